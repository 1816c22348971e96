// The page: keeps address, data and parts in step.
//
// One direction: an act changes the selection, the selection becomes the address, and every part
// is told. Nothing else holds state, so two explorers fit on one page, and back and forward just
// work.

import type { Api } from '../api/client.ts';
import type { Curve, ModelList } from '../api/generated.ts';
import { h, replace } from '../base/dom.ts';
import { DARK, LIGHT, type Theme } from '../base/theme.ts';
import type { Spot } from '../charts/curve_chart.ts';
import { withBoard } from '../state/board.ts';
import { type Series, makeSeries } from '../state/curves.ts';
import {
  type Live,
  NOTHING_LIVE,
  liveSpots,
  modelsWith,
  withCurve,
  withRun,
} from '../state/live.ts';
import { type Selection, readSelection, writeSelection } from '../state/selection.ts';
import { makeCharts } from './charts.ts';
import { makeCompare } from './compare.ts';
import type { Context, Part } from './context.ts';
import { makeCost } from './cost.ts';
import { makeData } from './data.ts';
import { makeEvents } from './events.ts';
import { makeFilters } from './filters.ts';
import { makeHeader } from './header.ts';
import { makeLiveStrip } from './live.ts';
import { makeReview } from './review.ts';
import { makeRunReport } from './run_report.ts';
import { makeSystems } from './systems.ts';

export async function startExplorer(root: HTMLElement, api: Api): Promise<void> {
  const app = new App(root, api);
  await app.start();
}

class App {
  private readonly root: HTMLElement;
  private readonly api: Api;
  private readonly header = makeHeader();
  private readonly filters = makeFilters();
  private readonly charts = makeCharts();
  private readonly systems = makeSystems();
  private readonly cost = makeCost();
  private readonly compare = makeCompare();
  private readonly data = makeData();
  private readonly review = makeReview();
  private readonly events = makeEvents();
  private readonly report = makeRunReport(() => this.closeReport());
  private readonly strip = makeLiveStrip();
  private readonly explore = h('main', { class: 'explore', id: 'main' });
  private readonly eventsPage = h('main', { class: 'events-page', id: 'main' });
  private readonly body = h('div', { class: 'body' });
  private readonly dark = window.matchMedia('(prefers-color-scheme: dark)');
  private selection: Selection;
  private models: ModelList['items'] = [];
  private curves: readonly Curve[] = [];
  private series: readonly Series[] = [];
  private seriesKey: readonly unknown[] = [];
  private live: Live = NOTHING_LIVE;
  private loading = true;
  private problem = '';
  // Where the report was opened from: closing goes back there.
  private before: Selection['view'] = 'explore';
  private opener: HTMLElement | null = null;
  private shownParts: readonly Part[] = [];

  constructor(root: HTMLElement, api: Api) {
    this.root = root;
    this.api = api;
    this.selection = readSelection(window.location.hash);
    this.explore.append(
      h('h1', { class: 'visually-hidden' }, 'Explore performance'),
      this.cost.form.element,
      this.charts.element,
      this.systems.element,
      this.cost.table.element,
    );
    this.eventsPage.append(
      h('h1', { class: 'visually-hidden' }, 'Event view'),
      this.events.element,
    );
  }

  async start(): Promise<void> {
    replace(
      this.root,
      h(
        'a',
        {
          class: 'skip',
          href: '#main',
          click: (event: Event) => {
            event.preventDefault();
            document
              .querySelector<HTMLElement>('main')
              ?.querySelector<HTMLElement>('.stage, button, a')
              ?.focus();
          },
        },
        'Skip to the charts',
      ),
      this.header.element,
      this.strip.element,
      this.body,
    );
    window.addEventListener('hashchange', () => this.moved());
    window.addEventListener('keydown', (event) => {
      if (this.selection.view !== 'run') return;
      if (event.key === 'Escape') this.closeReport();
      if (event.key === 'j' || event.key === 'k') this.neighbour(event);
    });
    window.addEventListener('popstate', () => this.moved());
    this.dark.addEventListener('change', () => this.render());
    this.render();
    await this.loadModels();
    this.api.follow({
      store: () => void this.loadModels(),
      run: (run) => this.follow(withRun(this.live, run)),
      curve: (curve) => this.follow(withCurve(this.live, curve)),
    });
  }

  private moved(): void {
    const read = readSelection(window.location.hash);
    const next = read.model === '' ? { ...read, model: this.firstModel() } : read;
    if (writeSelection(next) === writeSelection(this.selection)) return;
    const other = next.model !== this.selection.model;
    this.selection = next;
    if (other) void this.loadCurves();
    this.render();
  }

  private async loadModels(): Promise<void> {
    const models = await this.api.models();
    if (!models.ok) {
      this.problem = models.message;
      this.loading = false;
      return this.render();
    }
    this.problem = '';
    this.models = models.value.items;
    if (this.selection.model === '') {
      this.selection = { ...this.selection, model: this.firstModel() };
    }
    await this.loadCurves();
  }

  private firstModel(): string {
    return modelsWith(this.live, this.models)[0]?.name ?? '';
  }

  // A second of somebody's measurement: the strip and the charts move, nothing else does.
  private follow(live: Live): void {
    this.live = live;
    this.strip.update(live);
    if (this.selection.model === '') {
      this.selection = { ...this.selection, model: this.firstModel() };
      return this.render();
    }
    if (this.loading || !this.shownParts.includes(this.charts)) return;
    this.charts.update(this.context());
  }

  private async loadCurves(): Promise<void> {
    const { model } = this.selection;
    if (model === '') {
      this.loading = false;
      return this.render();
    }
    this.loading = this.curves.length === 0 || this.curves[0]?.model !== model;
    const curves = await this.api.curves(model);
    if (model !== this.selection.model) return;
    this.loading = false;
    if (curves.ok) {
      this.curves = [...curves.value].sort((x, y) => (y.peak_tps ?? 0) - (x.peak_tps ?? 0));
    } else {
      this.problem = curves.message;
    }
    this.render();
    await this.joinBoard(model);
  }

  // What the review board says of the submissions that curves are of.
  private async joinBoard(model: string): Promise<void> {
    if (this.curves.every((curve) => (curve.submission ?? '') === '')) return;
    const board = await this.api.submissions();
    if (!board.ok || board.value.items.length === 0 || model !== this.selection.model) return;
    this.curves = withBoard(this.curves, board.value.items);
    this.render();
  }

  private theme(): Theme {
    const { theme } = this.selection;
    return theme === 'dark' || (theme === 'system' && this.dark.matches) ? DARK : LIGHT;
  }

  // The series are the same objects as long as nothing changed that they are made of.
  private currentSeries(): readonly Series[] {
    const { selection: s } = this;
    const key = [
      this.curves,
      s.dataset,
      s.search,
      s.filters,
      s.concurrency_min,
      s.concurrency_max,
      s.since,
      s.until,
      s.pinned,
      s.per,
      s.price,
      s.prices,
      s.twin,
    ];
    if (key.some((part, i) => part !== this.seriesKey[i])) {
      this.seriesKey = key;
      this.series = makeSeries(this.curves, s);
    }
    return this.series;
  }

  private set(patch: Partial<Selection>, how: 'push' | 'replace' = 'push'): void {
    if (patch.view === 'run' && this.selection.view !== 'run' && this.selection.view !== 'events') {
      this.before = this.selection.view;
    }
    if (patch.view === 'run' && this.selection.view !== 'run') {
      this.opener = document.activeElement as HTMLElement | null;
    }
    const next = { ...this.selection, ...patch };
    const address = writeSelection(next);
    if (address === writeSelection(this.selection)) return;
    this.selection = next;
    if (how === 'push') window.history.pushState(null, '', address);
    else window.history.replaceState(null, '', address);
    if (patch.model !== undefined) void this.loadCurves();
    this.render();
  }

  private closeReport(): void {
    this.set({ view: this.before, run: '' });
  }

  // J and K: the report of the next and of the last point of the same curve.
  private neighbour(event: KeyboardEvent): void {
    const { run } = this.selection;
    const typing =
      event.target instanceof HTMLElement && /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const curve = this.curves.find((one) => (one.points ?? []).some((point) => point.id === run));
    const points = curve?.points ?? [];
    const at = points.findIndex((point) => point.id === run);
    const next = points[at + (event.key === 'j' ? 1 : -1)];
    if (at >= 0 && next !== undefined) this.set({ run: next.id });
  }

  private render(): void {
    const began = performance.now();
    const theme = this.theme();
    document.documentElement.dataset['theme'] = theme.name;
    const context = this.context();
    this.header.update(context);
    this.layout(context);
    const { model } = this.selection;
    document.title = model === '' ? 'Assay explorer' : `Assay explorer: ${model}`;
    // What the journeys read: how long this took, on the page's own clock.
    this.root.dataset['renderMs'] = (performance.now() - began).toFixed(1);
    this.root.dataset['ready'] = String(!this.loading);
  }

  private context(): Context {
    const series = this.currentSeries();
    return {
      api: this.api,
      selection: this.selection,
      theme: this.theme(),
      models: modelsWith(this.live, this.models),
      curves: this.curves,
      series,
      live: liveSpots(this.live, series, this.curves, this.selection),
      loading: this.loading,
      set: (patch, how) => this.set(patch, how),
      hover: (spot) => this.hover(spot),
    };
  }

  private layout(context: Context): void {
    const { view } = this.selection;
    if (view === 'events') return this.show([this.eventsPage], [this.events], context);
    if (view === 'data') return this.show([this.data.element], [this.data], context);
    if (view === 'review') return this.show([this.review.element], [this.review], context);
    if (this.problem !== '' && this.curves.length === 0)
      return this.note(problemNote(this.problem));
    if (!this.loading && context.models.length === 0) return this.note(emptyNote());
    const { model } = this.selection;
    const known = context.models.some((one) => one.name === model);
    if (!this.loading && !known && view !== 'run') return this.note(unknownNote(model, context));
    if (view === 'compare') return this.show([this.compare.element], [this.compare], context);
    const cost = view === 'cost' || (view === 'run' && this.before === 'cost');
    this.cost.form.element.hidden = !cost;
    this.cost.table.element.hidden = !cost;
    this.systems.element.hidden = cost;
    this.explore.classList.toggle('loading', this.loading);
    const parts: Part[] = [
      this.filters,
      this.charts,
      ...(cost ? [this.cost.form, this.cost.table] : [this.systems]),
    ];
    const report = view === 'run';
    this.body.classList.toggle('with-report', report);
    this.show(
      [this.filters.element, this.explore, ...(report ? [this.report.element] : [])],
      report ? [...parts, this.report] : parts,
      context,
    );
    if (!report) this.report.update({ ...context, selection: { ...this.selection, run: '' } });
  }

  private show(elements: readonly HTMLElement[], parts: readonly Part[], context: Context): void {
    const closed = this.report.element.isConnected && !elements.includes(this.report.element);
    // What stays is not touched: moving an element would take its focus and its scroll position.
    for (const old of [...this.body.children]) {
      if (!elements.includes(old as HTMLElement)) old.remove();
    }
    elements.forEach((element, i) => {
      if (this.body.children[i] !== element) {
        this.body.insertBefore(element, this.body.children[i] ?? null);
      }
    });
    this.body.classList.toggle('with-filters', elements.includes(this.filters.element));
    if (!elements.includes(this.report.element)) this.body.classList.remove('with-report');
    this.shownParts = parts;
    for (const part of parts) part.update(context);
    if (closed) this.refocus();
  }

  // A report was closed: the focus is where it was opened from, by its name if it was made anew.
  private refocus(): void {
    const { opener } = this;
    const there = opener?.isConnected === true ? opener : document.getElementById(opener?.id ?? '');
    (there ?? this.body.querySelector<HTMLElement>('.stage'))?.focus({ preventScroll: true });
  }

  private note(element: HTMLElement): void {
    this.body.classList.remove('with-filters', 'with-report');
    this.body.replaceChildren(element);
  }

  private hover(spot: Spot | null): void {
    for (const part of this.shownParts) part.highlight?.(spot);
  }
}

function problemNote(problem: string): HTMLElement {
  return h(
    'main',
    { class: 'note-page', id: 'main' },
    h('h1', {}, 'Nothing can be shown'),
    h('p', { class: 'error' }, problem),
    h(
      'p',
      {},
      'Start it again and open the address that it prints: ',
      h('code', {}, 'assay serve'),
      '.',
    ),
  );
}

const MODELS_NAMED = 12;

// A link to a model that is not in this store names those that are.
function unknownNote(model: string, context: Context): HTMLElement {
  const named = context.models.slice(0, MODELS_NAMED);
  return h(
    'main',
    { class: 'note-page', id: 'main' },
    h('h1', {}, `No result of ${model} is in this store`),
    h(
      'p',
      {},
      'The link may be of another store, or name the model as another source spells it. Here are:',
    ),
    h(
      'ul',
      {},
      named.map(({ name }) =>
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', class: 'link', click: () => context.set({ model: name }) },
            name,
          ),
        ),
      ),
      context.models.length > named.length ? h('li', {}, 'and others, in the list above') : null,
    ),
  );
}

// An empty store teaches the one command that fills it.
function emptyNote(): HTMLElement {
  return h(
    'main',
    { class: 'note-page', id: 'main' },
    h('h1', {}, 'The store is empty'),
    h(
      'p',
      {},
      'Fill it with what you have: run folders, submission trees, results of vLLM or AIPerf.',
    ),
    h('pre', {}, h('code', {}, 'assay import PATH…')),
    h('p', {}, 'Or try it with a simulated curve, made in seconds without any accelerator:'),
    h(
      'pre',
      {},
      h(
        'code',
        {},
        'assay simulate --model gpt-oss-120b --hardware h200-sxm --json > curve.json\n' +
          'assay import curve.json',
      ),
    ),
    h('p', {}, 'Or measure: what runs below a watched folder is drawn here while it goes on.'),
    h('pre', {}, h('code', {}, 'assay serve runs/')),
    h('p', {}, 'This page shows what arrives without a reload.'),
  );
}
