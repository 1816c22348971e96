// One chart on the page: the drawing, what the pointer and the arrow keys do on it, its
// downloads, and the same data as a table.
//
// Two canvases lie on each other: the drawing, painted when the data change, and a thin layer for
// crosshair and brush, painted as the pointer moves. So moving costs nothing however many points.

import { append, h, replace } from '../base/dom.ts';
import { type Cell, type Table, toCsv, toJson } from '../base/table.ts';
import { number3 } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { type Drawing, type Size, TEXT_SIZE, type Target, clipped } from '../charts/axes.ts';
import { annotated } from '../charts/annotations.ts';
import { FONT, draw, paint } from '../charts/paint_canvas.ts';
import { withFootnote } from '../charts/footnote.ts';
import type { Scene } from '../charts/scene.ts';
import { writeSvg } from '../charts/write_svg.ts';
import { fileName, save, savePng } from './download.ts';
import { type Window, centreOf, pannedWindow, zoomedWindow } from '../charts/window.ts';

export interface ChartSpec<T> {
  readonly id: string;
  readonly title: string;
  // The height for a width, CSS pixels.
  readonly height: (width: number) => number;
  readonly draw: (size: Size, theme: Theme) => Drawing<T>;
  readonly table: () => Table;
  // Two data are the same thing when their keys are equal.
  readonly key: (datum: T) => string;
  readonly card: (datum: T) => readonly (Node | string)[];
  // What the arrow keys walk along: left and right within, up and down between.
  readonly group: (datum: T) => string;
  // What stands out: the keys begin there, and reach the others after it.
  readonly first?: (datum: T) => boolean;
  readonly describe: (datum: T) => string;
  readonly onHover?: (datum: T | null) => void;
  readonly onOpen?: (datum: T) => void;
  // A range of the x axis was chosen: by dragging, by a finger, by Shift and the arrow keys.
  readonly onBrush?: (low: number, high: number) => void;
  // All of it again.
  readonly onUnbrush?: () => void;
  // A part of both axes was chosen: by buttons, wheel, dragging or keys; null: all of it again.
  readonly onWindow?: (window: Window | null) => void;
  // Words that a reader put to a datum; '' for none.
  readonly words?: (datum: T) => string;
  // What a picture that leaves the page says under itself.
  readonly notes?: () => readonly string[];
}

// The root font size for which charts are drawn as they are.
const FONT_PIXELS = 15;
const REACH = 28;
const TABLE_ROWS = 500;

export class ChartCard<T> {
  readonly element: HTMLElement;
  private readonly spec: ChartSpec<T>;
  private readonly stage: HTMLElement;
  private readonly base = h('canvas', { 'aria-hidden': 'true' });
  private readonly over = h('canvas', { class: 'over', 'aria-hidden': 'true' });
  private readonly card = h('div', { class: 'hover-card', hidden: true });
  private readonly said = h('p', { class: 'visually-hidden', 'aria-live': 'polite' });
  private readonly tableBox: HTMLDetailsElement;
  private readonly title: HTMLElement;
  private drawing: Drawing<T> | null = null;
  private theme: Theme | null = null;
  private lit: string | null = null;
  private at: Target<T> | null = null;
  // The range that is being chosen, in pixels of the drawing.
  // Where a drag that moves the part in sight began, and the drawing at that time.
  private pan: { x: number; y: number; drawing: Drawing<T> } | null = null;
  private brush: { from: number; to: number; touch: boolean } | null = null;
  // The click that ends a drag opens nothing.
  private dragged = false;
  // The brush follows the arrow keys.
  private walking = false;
  // Screen pixels to a pixel of the drawing.
  private zoom = 1;
  private size: Size = { width: 0, height: 0 };

  constructor(spec: ChartSpec<T>) {
    this.spec = spec;
    this.title = h('h2', { id: `${spec.id}-title` }, spec.title);
    this.stage = h(
      'div',
      {
        class: 'stage',
        tabindex: 0,
        role: 'application',
        'aria-roledescription': 'chart',
        'aria-labelledby': `${spec.id}-title`,
        'aria-describedby': `${spec.id}-keys`,
      },
      this.base,
      this.over,
      this.card,
    );
    this.tableBox = h('details', { class: 'chart-table' }, h('summary', {}, 'As a table'));
    this.tableBox.addEventListener('toggle', () => this.fillTable());
    this.element = h(
      'section',
      { class: `chart ${spec.id}`, 'data-chart': spec.id },
      h('header', {}, this.title, this.zoomButtons(), this.downloads()),
      this.stage,
      h(
        'p',
        { class: 'visually-hidden', id: `${spec.id}-keys` },
        'Arrow keys walk from point to point, Enter opens the report, Escape leaves.' +
          (spec.onBrush === undefined
            ? ''
            : ' Shift and the arrow keys choose a range of concurrency for all charts, ' +
              'which letting go of Shift takes; Delete takes all again.') +
          (spec.onWindow === undefined
            ? ''
            : ' Plus and minus zoom, Alt and the arrow keys move the part in sight, 0 fits all.'),
      ),
      this.said,
      this.tableBox,
    );
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(this.stage);
  }

  retitle(text: string): void {
    this.title.textContent = text;
  }

  // Paints anew, at once.
  update(theme: Theme): void {
    this.theme = theme;
    this.size = { width: 0, height: 0 };
    this.redraw();
    if (this.tableBox.open) this.fillTable();
  }

  highlight(key: string | null): void {
    if (this.lit === key) return;
    this.lit = key;
    this.paintOver();
  }

  private redraw(): void {
    // On a wall the page's type is larger, and the charts' with it.
    this.zoom = parseFloat(getComputedStyle(document.documentElement).fontSize) / FONT_PIXELS || 1;
    const width = Math.floor(this.stage.clientWidth / this.zoom);
    if (this.theme === null || width < 50) return;
    const height = Math.floor(this.spec.height(width));
    if (width === this.size.width && height === this.size.height) return;
    this.size = { width, height };
    for (const canvas of [this.base, this.over]) {
      canvas.style.width = `${width * this.zoom}px`;
      canvas.style.height = `${height * this.zoom}px`;
    }
    this.drawing = this.spec.draw(this.size, this.theme);
    if (this.spec.words !== undefined) {
      const scene = annotated(this.drawing, this.spec.words, this.theme);
      this.drawing = { ...this.drawing, scene };
    }
    paint(this.base, this.drawing.scene, this.ratio());
    this.stage.dataset['points'] = String(this.drawing.targets.length);
    // What the pointer or the keys are on stays chosen while it is there.
    const key = this.at === null ? null : this.spec.key(this.at.datum);
    this.at =
      key === null
        ? null
        : (this.drawing.targets.find((one) => this.spec.key(one.datum) === key) ?? null);
    if (this.at === null) this.hideCard();
    else if (!this.card.hidden) this.showCard(this.at);
    this.paintOver();
  }

  private paintOver(): void {
    const { drawing, theme } = this;
    if (drawing === null || theme === null) return;
    const ratio = this.ratio();
    const { width, height } = this.size;
    if (this.over.width !== Math.round(width * ratio)) this.over.width = Math.round(width * ratio);
    if (this.over.height !== Math.round(height * ratio)) {
      this.over.height = Math.round(height * ratio);
    }
    const context = this.over.getContext('2d');
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.paintBrush(context, drawing, theme);
    const target =
      this.lit === null
        ? undefined
        : drawing.targets.find((one) => this.spec.key(one.datum) === this.lit);
    if (target === undefined) return;
    const plot = drawing.plotOf?.(target.datum) ?? drawing.frame.plot;
    if (drawing.trace !== undefined) draw(context, clipped(plot, drawing.trace(target.datum)));
    context.globalAlpha = 1;
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(target.x, plot.top);
    context.lineTo(target.x, plot.top + plot.height);
    context.moveTo(plot.left, target.y);
    context.lineTo(plot.left + plot.width, target.y);
    context.stroke();
    context.setLineDash([]);
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(target.x, target.y, 7, 0, 2 * Math.PI);
    context.stroke();
  }

  // The chosen range, with both its ends written.
  private paintBrush(context: CanvasRenderingContext2D, drawing: Drawing<T>, theme: Theme): void {
    const range = this.range();
    if (range === null) return;
    const { plot, x } = drawing.frame;
    const [left, right] = [x.at(range[0]), x.at(range[1])];
    context.globalAlpha = 0.18;
    context.fillStyle = theme.series[0] ?? theme.ink;
    context.fillRect(left, plot.top, right - left, plot.height);
    context.globalAlpha = 1;
    context.fillStyle = theme.ink;
    for (const at of [left, right]) context.fillRect(at - 0.5, plot.top, 1, plot.height);
    context.font = `600 ${TEXT_SIZE}px ${FONT}`;
    context.textAlign = 'center';
    context.lineWidth = 4;
    context.strokeStyle = theme.ground;
    const text = `${number3(range[0])} to ${number3(range[1])}`;
    const middle = Math.min(
      Math.max((left + right) / 2, plot.left + 40),
      plot.left + plot.width - 40,
    );
    context.strokeText(text, middle, plot.top + 12);
    context.fillText(text, middle, plot.top + 12);
  }

  // The whole numbers that the brush covers; null while it covers nothing yet.
  private range(): [number, number] | null {
    const { brush, drawing } = this;
    if (brush === null || drawing === null) return null;
    if (!this.walking && Math.abs(brush.to - brush.from) <= (brush.touch ? 14 : 6)) return null;
    const { plot, x } = drawing.frame;
    const inside = (at: number): number =>
      x.invert(Math.min(plot.left + plot.width, Math.max(plot.left, at)));
    const ends = [inside(brush.from), inside(brush.to)].sort((p, q) => p - q) as [number, number];
    // A key stands on a point: its number is whole but for rounding.
    const off = this.walking ? 1e-6 : 0;
    return [
      Math.max(1, Math.floor(ends[0] * (1 + off))),
      Math.max(1, Math.ceil(ends[1] * (1 - off))),
    ];
  }

  private listen(): void {
    const { stage } = this;
    stage.addEventListener('pointermove', (event) => this.move(event));
    stage.addEventListener('pointerleave', () => this.point(null));
    stage.addEventListener('pointerdown', (event) => this.press(event));
    stage.addEventListener('pointerup', () => this.release());
    // The browser took the finger for scrolling.
    stage.addEventListener('pointercancel', () => this.dropBrush());
    if (this.spec.onWindow !== undefined) {
      // The page keeps its wheel until the chart is chosen.
      stage.addEventListener('wheel', (event) => this.wheeled(event), { passive: false });
    }
    stage.addEventListener('click', (event) => {
      const dragged = this.dragged;
      this.dragged = false;
      if (dragged) return;
      const target = this.nearest(this.position(event));
      if (target === null) return;
      const again =
        this.at !== null && this.spec.key(this.at.datum) === this.spec.key(target.datum);
      const touch = (event as PointerEvent).pointerType === 'touch';
      this.point(target);
      if (!touch || again) this.spec.onOpen?.(target.datum);
    });
    stage.addEventListener('keydown', (event) => this.keyed(event));
    stage.addEventListener('keyup', (event) => {
      if (event.key === 'Shift' && this.walking) this.release();
    });
    stage.addEventListener('blur', () => {
      this.dropBrush();
      this.point(null);
    });
  }

  private position(event: MouseEvent): { x: number; y: number } {
    const box = this.stage.getBoundingClientRect();
    return {
      x: (event.clientX - box.left) / this.zoom,
      y: (event.clientY - box.top) / this.zoom,
    };
  }

  private nearest(at: { x: number; y: number }): Target<T> | null {
    let best: Target<T> | null = null;
    let least = REACH * REACH;
    for (const target of this.drawing?.targets ?? []) {
      const distance = (target.x - at.x) ** 2 + (target.y - at.y) ** 2;
      if (distance < least) {
        least = distance;
        best = target;
      }
    }
    return best;
  }

  private move(event: PointerEvent): void {
    const at = this.position(event);
    if (this.pan !== null && event.buttons === 1) {
      const [dx, dy] = [at.x - this.pan.x, at.y - this.pan.y];
      if (!this.dragged && Math.hypot(dx, dy) < 5) return;
      this.dragged = true;
      this.spec.onWindow?.(pannedWindow(this.pan.drawing.frame, dx, dy));
      return;
    }
    if (this.brush !== null) {
      this.brush.to = at.x;
      this.paintOver();
      if (this.range() !== null) return;
    }
    if (event.pointerType !== 'touch') this.point(this.nearest(at));
  }

  private press(event: PointerEvent): void {
    this.dragged = false;
    if (this.spec.onWindow !== undefined && event.button === 0 && event.pointerType !== 'touch') {
      const drawing = this.drawing;
      if (drawing !== null) this.pan = { ...this.position(event), drawing };
    }
    if (this.spec.onBrush === undefined || event.button !== 0) return;
    const { x } = this.position(event);
    this.brush = { from: x, to: x, touch: event.pointerType === 'touch' };
  }

  private release(): void {
    this.pan = null;
    const range = this.range();
    this.dropBrush();
    if (range === null) return;
    this.dragged = true;
    this.spec.onBrush?.(range[0], range[1]);
  }

  private dropBrush(): void {
    if (this.brush === null) return;
    this.brush = null;
    this.walking = false;
    this.paintOver();
  }

  private point(target: Target<T> | null): void {
    const before = this.at === null ? null : this.spec.key(this.at.datum);
    const now = target === null ? null : this.spec.key(target.datum);
    this.at = target;
    if (before === now) return;
    this.spec.onHover?.(target?.datum ?? null);
    this.highlight(now);
    if (target === null) this.hideCard();
    else this.showCard(target);
  }

  private showCard(target: Target<T>): void {
    replace(this.card, this.spec.card(target.datum));
    this.card.hidden = false;
    const { zoom, card } = this;
    const [x, y] = [target.x * zoom, target.y * zoom];
    const height = this.size.height * zoom;
    // It may lie over the neighbours, but not beyond the page: a small chart stays in sight.
    const box = this.stage.getBoundingClientRect();
    const page = document.documentElement.clientWidth - 8;
    const right = box.left + x + 16 + card.offsetWidth <= page;
    const left = right ? x + 16 : Math.max(8 - box.left, x - 16 - card.offsetWidth);
    const top = Math.min(
      Math.max(0, y - card.offsetHeight / 2),
      Math.max(0, height - card.offsetHeight),
    );
    card.style.left = `${left}px`;
    card.style.top = `${top}px`;
  }

  private ratio(): number {
    return (window.devicePixelRatio || 1) * this.zoom;
  }

  private hideCard(): void {
    this.card.hidden = true;
  }

  private keyed(event: KeyboardEvent): void {
    const targets = this.drawing?.targets ?? [];
    if (event.key === 'Escape') {
      this.dropBrush();
      return this.point(null);
    }
    if (this.spec.onWindow !== undefined && this.windowKey(event)) return;
    if (event.key === 'Delete' || event.key === 'Backspace') return this.spec.onUnbrush?.();
    if (event.key === 'Enter' && this.at !== null) return this.spec.onOpen?.(this.at.datum);
    if (!event.key.startsWith('Arrow') || targets.length === 0) return;
    event.preventDefault();
    const from = this.at;
    const next =
      from === null
        ? (this.inOrder(targets)[0] as Target<T>)
        : this.neighbour(from, event.key, targets);
    if (event.shiftKey && this.spec.onBrush !== undefined) this.walk(from ?? next, next);
    this.point(next);
    if (this.walking) this.hideCard();
    const range = this.walking ? this.range() : null;
    this.said.textContent =
      range === null
        ? (next === from ? 'No further point. ' : '') + this.spec.describe(next.datum)
        : `Concurrency ${number3(range[0])} to ${number3(range[1])}`;
  }

  // Shift and an arrow key: the range goes from where Shift was pressed to here.
  private walk(from: Target<T>, to: Target<T>): void {
    if (!this.walking) this.brush = { from: from.x, to: to.x, touch: false };
    else if (this.brush !== null) this.brush.to = to.x;
    this.walking = true;
    this.paintOver();
  }

  // Those that stand out first.
  private inOrder(targets: readonly Target<T>[]): readonly Target<T>[] {
    const first = targets.filter((one) => this.spec.first?.(one.datum) === true);
    return first.length === 0
      ? targets
      : [...first, ...targets.filter((one) => this.spec.first?.(one.datum) !== true)];
  }

  private neighbour(from: Target<T>, key: string, targets: readonly Target<T>[]): Target<T> {
    const { group } = this.spec;
    const same = targets.filter((one) => group(one.datum) === group(from.datum));
    // Where each system is one mark, left and right lead to the next one.
    const own = [...(same.length > 1 ? same : targets)].sort((p, q) => p.x - q.x);
    const place = own.indexOf(from);
    if (key === 'ArrowRight') return own[Math.min(own.length - 1, place + 1)] ?? from;
    if (key === 'ArrowLeft') return own[Math.max(0, place - 1)] ?? from;
    const groups = [...new Set(this.inOrder(targets).map((one) => group(one.datum)))];
    const step = key === 'ArrowDown' ? 1 : groups.length - 1;
    const wanted = groups[(groups.indexOf(group(from.datum)) + step) % groups.length];
    const others = targets.filter((one) => group(one.datum) === wanted);
    return others.reduce(
      (best, one) => (Math.abs(one.x - from.x) < Math.abs(best.x - from.x) ? one : best),
      others[0] ?? from,
    );
  }

  private zoomTo(factor: number, at?: { x: number; y: number }): void {
    const frame = this.drawing?.frame;
    if (frame === undefined) return;
    this.spec.onWindow?.(zoomedWindow(frame, at ?? centreOf(frame), factor));
  }

  private wheeled(event: WheelEvent): void {
    if (!event.ctrlKey && document.activeElement !== this.stage) return;
    event.preventDefault();
    this.zoomTo(Math.exp(Math.sign(event.deltaY) * 0.15), this.position(event));
  }

  // True where the key was one of the window's.
  private windowKey(event: KeyboardEvent): boolean {
    const frame = this.drawing?.frame;
    if (frame === undefined || event.ctrlKey || event.metaKey) return false;
    const around = this.at ?? undefined;
    const step = 0.15;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [step, 0],
      ArrowRight: [-step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
    };
    const move = event.altKey ? moves[event.key] : undefined;
    if (move !== undefined) {
      const { width, height } = frame.plot;
      this.spec.onWindow?.(pannedWindow(frame, move[0] * width, move[1] * height));
    } else if (event.key === '+' || event.key === '=') this.zoomTo(0.7, around);
    else if (event.key === '-') this.zoomTo(1 / 0.7, around);
    else if (event.key === '0') this.spec.onWindow?.(null);
    else return false;
    event.preventDefault();
    return true;
  }

  private zoomButtons(): HTMLElement | null {
    if (this.spec.onWindow === undefined) return null;
    const button = (text: string, label: string, click: () => void): HTMLElement =>
      h('button', { type: 'button', click, 'aria-label': label, title: label }, text);
    return h(
      'div',
      { class: 'downloads zoom', role: 'group', 'aria-label': 'Zoom' },
      button('+', 'Zoom in', () => this.zoomTo(0.7)),
      button('−', 'Zoom out', () => this.zoomTo(1 / 0.7)),
      button('Fit', 'Fit all points', () => this.spec.onWindow?.(null)),
    );
  }

  private picture(drawing: Drawing<T>): Scene {
    const notes = this.spec.notes?.() ?? [];
    if (notes.length === 0 || this.theme === null) return drawing.scene;
    return withFootnote(
      drawing.scene,
      this.title.textContent ?? this.spec.title,
      notes,
      this.theme,
    );
  }

  private downloads(): HTMLElement {
    const name = (suffix: string): string => fileName('assay', this.spec.id) + suffix;
    const scene = (act: (drawing: Drawing<T>) => void) => (): void => {
      if (this.drawing !== null) act(this.drawing);
    };
    const button = (text: string, click: () => void): HTMLElement =>
      h(
        'button',
        { type: 'button', click, 'aria-label': `Download ${text}: ${this.spec.title}` },
        text,
      );
    return h(
      'div',
      { class: 'downloads', role: 'group', 'aria-label': 'Downloads' },
      button(
        'PNG',
        scene((d) => savePng(name('.png'), this.picture(d))),
      ),
      button(
        'SVG',
        scene((d) => save(name('.svg'), 'image/svg+xml', writeSvg(this.picture(d)))),
      ),
      button('CSV', () => save(name('.csv'), 'text/csv', toCsv(this.spec.table()))),
      button('JSON', () => save(name('.json'), 'application/json', toJson(this.spec.table()))),
    );
  }

  private fillTable(): void {
    if (!this.tableBox.open) return;
    const table = this.spec.table();
    const box = tableElement(table, this.spec.title, TABLE_ROWS);
    const summary = this.tableBox.firstElementChild as Element;
    this.tableBox.replaceChildren(summary);
    append(this.tableBox, [
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${this.spec.title}, table` },
        box,
      ),
      table.rows.length > TABLE_ROWS
        ? h('p', {}, `The first ${TABLE_ROWS} of ${table.rows.length} rows; CSV has all.`)
        : null,
    ]);
  }
}

export function tableElement(table: Table, caption: string, rowsMax: number): HTMLTableElement {
  const cell = (value: Cell): HTMLElement =>
    typeof value === 'number'
      ? h('td', { class: 'number' }, number3(value))
      : h('td', {}, value == null ? '–' : String(value));
  return h(
    'table',
    {},
    h('caption', { class: 'visually-hidden' }, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        table.columns.map((name) => h('th', { scope: 'col' }, name)),
      ),
    ),
    h(
      'tbody',
      {},
      table.rows.slice(0, rowsMax).map((row) => h('tr', {}, row.map(cell))),
    ),
  );
}
