// The event view of one run: zoom from minutes to single tokens.

import type { Events } from '../api/generated.ts';
import { h, replace } from '../base/dom.ts';
import { duration, number3, whole, words } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { makeScale } from '../charts/scale.ts';
import { FONT } from '../charts/paint_canvas.ts';
import {
  type Streams,
  type View,
  coloursOf,
  makeStreams,
  panned,
  raster,
  streamAt,
  zoomed,
} from '../charts/waterfall.ts';
import type { Context, Part } from './context.ts';
import { save } from './download.ts';

const AXIS_HEIGHT = 26;
const ROWS_MAX = 100;
// Windows are asked for with so much to either side, and no sooner than after so long a rest.
const MARGIN = 0.5;
const REST_MS = 160;

export function makeEvents(): Part {
  const viewer = new EventViewer();
  return { element: viewer.element, update: (context) => viewer.update(context) };
}

class EventViewer {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly stage = h(
    'div',
    {
      class: 'stage waterfall',
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'waterfall',
      'aria-labelledby': 'events-title',
      'aria-describedby': 'events-keys',
    },
    this.canvas,
  );
  private readonly card = h('div', { class: 'hover-card', hidden: true });
  private readonly title = h('h2', { id: 'events-title' }, 'Event view');
  private readonly status = h('p', { class: 'hint', role: 'status' });
  private readonly table = h(
    'details',
    { class: 'chart-table' },
    h('summary', {}, 'The streams with the longest silences, as a table'),
  );
  private context: Context | null = null;
  private shown = '';
  private streams: Streams | null = null;
  private events: Events | null = null;
  private view: View = { from_ms: 0, to_ms: 1, from_lane: 0, to_lane: 1 };
  private pixels: ImageData | null = null;
  private frame = 0;
  private rest = 0;
  private drag: { x: number; y: number; view: View } | null = null;
  // Where each pressed pointer is; two of them zoom.
  private readonly fingers = new Map<number, number>();

  constructor() {
    const button = (text: string, label: string, click: () => void): HTMLElement =>
      h('button', { type: 'button', 'aria-label': label, click }, text);
    this.stage.append(this.card);
    this.element = h(
      'section',
      { class: 'events' },
      h(
        'header',
        {},
        h(
          'button',
          { type: 'button', id: 'back', click: () => this.context?.set({ view: 'run' }) },
          '← Report',
        ),
        this.title,
        h(
          'div',
          { class: 'downloads', role: 'group', 'aria-label': 'Zoom and downloads' },
          button('+', 'Zoom in', () => this.zoomMiddle(0.5)),
          button('−', 'Zoom out', () => this.zoomMiddle(2)),
          button('All', 'All: show the whole run', () => this.show(this.whole())),
          button('PNG', 'Download PNG: event view', () => this.png()),
          button('JSON', 'Download JSON: event view', () =>
            save('assay-events.json', 'application/json', JSON.stringify(this.events)),
          ),
        ),
      ),
      legend(),
      this.stage,
      h(
        'p',
        { class: 'hint', id: 'events-keys' },
        'Wheel or two fingers: zoom in time; with Shift: zoom in lanes. Drag: move. ' +
          'Keys: + and − zoom, arrows move.',
      ),
      this.status,
      this.table,
    );
    this.listen();
    new ResizeObserver(() => this.schedule()).observe(this.stage);
  }

  update(context: Context): void {
    this.context = context;
    const { run } = context.selection;
    if (run !== this.shown) {
      this.shown = run;
      this.streams = null;
      this.status.textContent = 'Loading the events…';
      void this.load(run, context);
    }
    this.schedule();
  }

  private async load(run: string, context: Context): Promise<void> {
    const reply = await context.api.events(run, null);
    if (run !== this.shown) return;
    if (!reply.ok) {
      this.status.textContent = `The events could not be loaded: ${reply.message}`;
      return;
    }
    this.take(reply.value);
    const { from_ms, to_ms } = context.selection;
    this.show(to_ms > from_ms ? { ...this.whole(), from_ms, to_ms } : this.whole());
  }

  private take(events: Events): void {
    this.events = events;
    this.streams = makeStreams(events);
    const size = `${whole(events.total)} streams in ${whole(events.lanes)} lanes`;
    this.title.textContent = `Event view: ${size}`;
    this.fillTable();
  }

  private whole(): View {
    return {
      from_ms: 0,
      to_ms: this.streams?.run_ms || 1,
      from_lane: 0,
      to_lane: this.streams?.lanes ?? 1,
    };
  }

  private show(view: View): void {
    this.view = view;
    this.schedule();
    window.clearTimeout(this.rest);
    this.rest = window.setTimeout(() => void this.settle(), REST_MS);
  }

  // When the view has come to rest: the address says it, and what it lacks is asked for.
  private async settle(): Promise<void> {
    const { context, view, events, shown } = this;
    if (context === null || events === null || context.selection.view !== 'events') return;
    const all = this.whole();
    const everything = view.from_ms <= 0 && view.to_ms >= all.to_ms;
    context.set(
      {
        from_ms: everything ? 0 : Number(view.from_ms.toFixed(2)),
        to_ms: everything ? 0 : Number(view.to_ms.toFixed(2)),
      },
      'replace',
    );
    const span = view.to_ms - view.from_ms;
    const tokens = this.wantsTokens();
    const inside = events.from_ms <= view.from_ms && events.to_ms >= view.to_ms;
    if (inside && (!tokens || events.fragments != null) && (events.step <= 1 || everything)) return;
    const reply = await context.api.events(shown, {
      from_ms: Math.max(0, view.from_ms - MARGIN * span),
      to_ms: Math.min(all.to_ms, view.to_ms + MARGIN * span),
      detail: tokens ? 'tokens' : 'streams',
      limit: 50000,
    });
    if (reply.ok && shown === this.shown) {
      this.take(reply.value);
      this.schedule();
    }
  }

  // Fragments are worth asking for once those in view could be told apart.
  private wantsTokens(): boolean {
    const { events, view } = this;
    if (events === null) return false;
    const fragments =
      (events.streams.fragments ?? []).reduce((sum, count) => sum + count, 0) * events.step;
    const share = (view.to_ms - view.from_ms) / Math.max(1, events.to_ms - events.from_ms);
    return fragments * share < 150000;
  }

  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = window.requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { streams, context } = this;
    const width = Math.floor(this.stage.clientWidth);
    const height = Math.floor(Math.max(260, Math.min(720, window.innerHeight * 0.62)));
    if (streams === null || context === null || width < 50) return;
    const began = performance.now();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [w, tall] = [Math.round(width * ratio), Math.round((height - AXIS_HEIGHT) * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = w;
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const drawing = this.canvas.getContext('2d');
    if (drawing === null) return;
    if (this.pixels === null || this.pixels.width !== w || this.pixels.height !== tall) {
      this.pixels = drawing.createImageData(w, tall);
    }
    const looked = raster(
      streams,
      this.view,
      new Uint32Array(this.pixels.data.buffer),
      w,
      tall,
      coloursOf(context.theme),
    );
    drawing.putImageData(this.pixels, 0, 0);
    axis(drawing, this.view, width, height, ratio, context.theme);
    this.stage.dataset['drawn'] = String(looked);
    this.stage.dataset['fragments'] = String(streams.at.length);
    this.stage.dataset['frameMs'] = (performance.now() - began).toFixed(2);
    this.say(looked);
  }

  private say(looked: number): void {
    const { events, view } = this;
    if (events === null) return;
    const thinned =
      events.step > 1 ? ` Every ${events.step}th stream is shown; zoom in for all.` : '';
    const fragments = this.streams?.at.length ?? 0;
    const loaded = fragments > 0 ? `, ${whole(fragments)} fragments loaded` : '';
    const text =
      `${whole(looked)} streams in view, ${duration(view.to_ms - view.from_ms)} from ` +
      `${duration(view.from_ms)}${loaded}.${thinned}`;
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  private listen(): void {
    const { stage } = this;
    stage.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const factor = Math.exp(
          Math.sign(event.deltaY) * Math.min(0.6, Math.abs(event.deltaY) / 400),
        );
        const { time, lane } = this.place(event);
        if (event.shiftKey) this.zoomLanes(lane, factor);
        else this.show(zoomed(this.view, time, factor, this.whole().to_ms));
      },
      { passive: false },
    );
    stage.addEventListener('pointerdown', (event) => {
      this.fingers.set(event.pointerId, event.clientX);
      this.drag = { x: event.clientX, y: event.clientY, view: this.view };
      stage.setPointerCapture(event.pointerId);
    });
    for (const end of ['pointerup', 'pointercancel'] as const) {
      stage.addEventListener(end, (event) => {
        this.fingers.delete(event.pointerId);
        this.drag = null;
      });
    }
    stage.addEventListener('pointermove', (event) => this.moved(event));
    stage.addEventListener('pointerleave', () => {
      this.card.hidden = true;
    });
    stage.addEventListener('keydown', (event) => this.keyed(event));
  }

  private place(event: MouseEvent): { x: number; y: number; time: number; lane: number } {
    const box = this.stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { view } = this;
    const rows = Math.max(1, box.height - AXIS_HEIGHT);
    return {
      x,
      y,
      time: view.from_ms + (x / box.width) * (view.to_ms - view.from_ms),
      lane: view.from_lane + (y / rows) * (view.to_lane - view.from_lane),
    };
  }

  private pinched(event: PointerEvent): void {
    if (!this.fingers.has(event.pointerId)) return;
    const spread = (): number => {
      const at = [...this.fingers.values()];
      return Math.max(20, Math.max(...at) - Math.min(...at));
    };
    const before = spread();
    this.fingers.set(event.pointerId, event.clientX);
    const box = this.stage.getBoundingClientRect();
    const at = [...this.fingers.values()];
    const middle = at.reduce((sum, x) => sum + x, 0) / at.length - box.left;
    const { view } = this;
    const time = view.from_ms + (middle / box.width) * (view.to_ms - view.from_ms);
    this.drag = null;
    this.show(zoomed(view, time, before / spread(), this.whole().to_ms));
  }

  private moved(event: PointerEvent): void {
    const { drag, streams } = this;
    if (streams === null) return;
    if (this.fingers.size > 1) return this.pinched(event);
    if (drag !== null) {
      const box = this.stage.getBoundingClientRect();
      const { view } = drag;
      this.show(
        panned(
          view,
          ((drag.x - event.clientX) / box.width) * (view.to_ms - view.from_ms),
          ((drag.y - event.clientY) / box.height) * (view.to_lane - view.from_lane),
          this.whole().to_ms,
          streams.lanes,
        ),
      );
      return;
    }
    const { x, y, time, lane } = this.place(event);
    const i = streamAt(streams, Math.floor(lane), time);
    this.card.hidden = i < 0;
    if (i < 0) return;
    replace(this.card, streamCard(this.events as Events, streams, i));
    this.card.style.left = `${Math.min(x + 14, this.stage.clientWidth - this.card.offsetWidth)}px`;
    this.card.style.top = `${Math.max(
      0,
      Math.min(y + 14, this.stage.clientHeight - this.card.offsetHeight),
    )}px`;
  }

  private keyed(event: KeyboardEvent): void {
    const { view, streams } = this;
    if (streams === null) return;
    const span = view.to_ms - view.from_ms;
    const rows = view.to_lane - view.from_lane;
    const move: Record<string, [number, number]> = {
      ArrowLeft: [-span / 5, 0],
      ArrowRight: [span / 5, 0],
      ArrowUp: [0, -rows / 5],
      ArrowDown: [0, rows / 5],
    };
    const by = move[event.key];
    if (by !== undefined) this.show(panned(view, by[0], by[1], this.whole().to_ms, streams.lanes));
    else if (event.key === '+' || event.key === '=') this.zoomMiddle(0.5);
    else if (event.key === '-') this.zoomMiddle(2);
    else if (event.key === 'Home') this.show(this.whole());
    else return;
    event.preventDefault();
  }

  private zoomMiddle(factor: number): void {
    this.show(
      zoomed(this.view, (this.view.from_ms + this.view.to_ms) / 2, factor, this.whole().to_ms),
    );
  }

  private zoomLanes(about: number, factor: number): void {
    const { view } = this;
    const { lanes } = this.streams ?? { lanes: 1 };
    const rows = Math.min(lanes, Math.max(1, (view.to_lane - view.from_lane) * factor));
    const share = (about - view.from_lane) / (view.to_lane - view.from_lane);
    const from = Math.min(Math.max(0, about - share * rows), lanes - rows);
    this.show({ ...view, from_lane: from, to_lane: from + rows });
  }

  private png(): void {
    this.canvas.toBlob((blob) => {
      if (blob !== null) save('assay-events.png', 'image/png', blob);
    });
  }

  private fillTable(): void {
    const { events } = this;
    if (events === null) return;
    const { streams } = events;
    const order = [...(streams.gap_ms_max ?? [])]
      .map((gap, i) => [gap ?? 0, i] as const)
      .sort((x, y) => y[0] - x[0])
      .slice(0, ROWS_MAX);
    const summary = this.table.firstElementChild as Element;
    const cell = (value: string): HTMLElement => h('td', { class: 'number' }, value);
    this.table.replaceChildren(
      summary,
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Streams' },
        h(
          'table',
          {},
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              [
                'query',
                'sample',
                'lane',
                'sent',
                'first token after',
                'done after',
                'fragments',
                'longest silence',
              ].map((name) => h('th', { scope: 'col' }, name)),
            ),
          ),
          h(
            'tbody',
            {},
            order.map(([gap, i]) => {
              const sent = streams.sent_ms?.[i] ?? NaN;
              return h(
                'tr',
                {},
                cell(whole(streams.query?.[i])),
                cell(whole(streams.sample?.[i])),
                cell(whole(streams.lane?.[i])),
                cell(duration(sent)),
                cell(duration((streams.first_token_ms?.[i] ?? NaN) - sent)),
                cell(duration((streams.done_ms?.[i] ?? NaN) - sent)),
                cell(whole(streams.fragments?.[i])),
                cell(duration(gap)),
              );
            }),
          ),
        ),
      ),
    );
  }
}

function streamCard(events: Events, streams: Streams, i: number): readonly Node[] {
  const c = events.streams;
  const sent = streams.sent[i] as number;
  const rows: [string, string][] = [
    ['Outcome', words(events.outcomes?.[c.outcome?.[i] ?? -1])],
    ['Sample', whole(c.sample?.[i])],
    ['Sent', `${duration(sent)}, ${duration(sent - (streams.due[i] as number))} after due`],
    ['First token after', duration((streams.first[i] as number) - sent)],
    ['Done after', duration((streams.end[i] as number) - sent)],
    ['Fragments', number3(c.fragments?.[i])],
    ['Longest silence', duration(c.gap_ms_max?.[i])],
  ];
  return [
    h('strong', {}, `Query ${whole(c.query?.[i])}, lane ${whole(c.lane?.[i])}`),
    h(
      'dl',
      {},
      rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
  ];
}

function axis(
  drawing: CanvasRenderingContext2D,
  view: View,
  width: number,
  height: number,
  ratio: number,
  theme: Theme,
): void {
  drawing.save();
  drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawing.fillStyle = theme.ground;
  drawing.fillRect(0, height - AXIS_HEIGHT, width, AXIS_HEIGHT);
  const scale = makeScale('linear', view.from_ms, view.to_ms, 0, width);
  drawing.font = `11.5px ${FONT}`;
  drawing.textAlign = 'center';
  drawing.fillStyle = theme.muted;
  const ticks = scale.ticks(Math.max(2, Math.floor(width / 110)));
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  for (const tick of ticks) {
    const x = scale.at(tick);
    drawing.fillRect(x, height - AXIS_HEIGHT, 1, 5);
    if (x > 24 && x < width - 24) drawing.fillText(timeText(tick, step), x, height - 7);
  }
  drawing.restore();
}

// Enough decimals that neighbouring ticks differ.
function timeText(at_ms: number, step_ms: number): string {
  const decimals = (unit: number): number =>
    Math.max(0, Math.min(6, Math.ceil(-Math.log10(step_ms / unit))));
  return step_ms >= 100 || at_ms >= 10000
    ? `${(at_ms / 1000).toFixed(decimals(1000))} s`
    : `${at_ms.toFixed(decimals(1))} ms`;
}

// The legend's colours are the stylesheet's, in both themes the ones of coloursOf.
function legend(): HTMLElement {
  return h(
    'ul',
    { class: 'legend' },
    [
      ['wait', 'due, not yet sent'],
      ['prefill', 'sent, no token yet'],
      ['decode', 'tokens arriving'],
      ['bad', 'a stall, or a failed query'],
    ].map(([name, text]) => h('li', {}, h('span', { class: `key ${name}` }), text ?? '')),
  );
}
