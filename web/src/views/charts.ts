// The four linked charts: throughput against interactivity, and three figures by concurrency.

import { h, replace } from '../base/dom.ts';
import { ABSENT, duration, number3, percent, whole, words } from '../base/format.ts';
import type { Table } from '../base/table.ts';
import { concurrencyChart, type ConcurrencyOptions } from '../charts/concurrency_chart.ts';
import { type Spot, curveChart } from '../charts/curve_chart.ts';
import { figureChart } from '../charts/figure_chart.ts';
import { entryOf, historyChart, isOfRuns } from '../charts/history_chart.ts';
import { groupsOf, multiplesChart, panelGrid, PANELS_MAX } from '../charts/multiples_chart.ts';
import { offlineChart, offlineHeight, offlineSpots } from '../charts/offline_chart.ts';
import { CROWD } from '../charts/series_marks.ts';
import { NO_WINDOW } from '../charts/window.ts';
import type { Point } from '../api/generated.ts';
import {
  type Series,
  interactivityUnit,
  isCeiling,
  isEndToEnd,
  isOpenLoop,
} from '../state/curves.ts';
import {
  FIGURES,
  type Figure,
  X_USUAL,
  Y_USUAL,
  axesFor,
  figureOf,
  outputText,
} from '../state/figures.ts';
import { basesText, powerOf, powerText } from '../state/power.ts';
import { safetyFailed, safetyText } from '../state/safety.ts';
import {
  DEFAULTS,
  FACETS,
  type Facet,
  type Normalisation,
  type Selection,
  showsPower,
} from '../state/selection.ts';
import { ChartCard, type ChartSpec } from './chart_card.ts';
import type { Context, Part } from './context.ts';
import { FACET_TITLES } from './filters.ts';
import { makeOfflineOnly } from './offline_only.ts';
import { pictureNotes } from './picture_notes.ts';
import { makeRangeChip } from './range_chip.ts';
import { swatch } from './swatch.ts';

export const UNIT: Readonly<Record<Normalisation, string>> = {
  system: 'tok/s',
  accelerator: 'tok/s per accelerator',
  kw: 'tok/s per kW',
  usd: 'tok/s per $/h',
};

const SMOOTH_NOTE = 'Dotted: interpolated (not official). The official curve is the staircase.';

export interface Charts extends Part {
  highlight(spot: Spot | null): void;
}

export function makeCharts(): Charts {
  let context: Context | null = null;
  const common = commonSpec(() => context);
  const curve = new ChartCard<Spot>({
    ...common,
    id: 'curve',
    title: 'Throughput against interactivity',
    height: (width) => mainHeight(width, context),
    onWindow: (window) => context?.set(window ?? NO_WINDOW, 'replace'),
    draw: (size, theme) => {
      const chosen = context === null ? null : axesOf(context);
      if (context !== null && context.selection.split !== '') {
        return multiplesChart(context.series, size, {
          facet: context.selection.split,
          x: context.selection.x,
          y: context.selection.y,
          x_title: interactivityUnit(context.series),
          y_title: UNIT[context.selection.per],
          theme,
        });
      }
      if (context !== null && chosen !== null && !chosen.usual) {
        const draw = chosen.x.time === true ? historyChart : figureChart;
        return draw(context.series, size, {
          x: chosen.x,
          y: chosen.y,
          x_kind: context.selection.x,
          y_kind: context.selection.y,
          selection: context.selection,
          window: context.selection,
          theme,
        });
      }
      return curveChart(context?.series ?? [], size, {
        x: context?.selection.x ?? 'log',
        y: context?.selection.y ?? 'linear',
        y_title: UNIT[context?.selection.per ?? 'system'],
        envelope: (context?.selection.envelope ?? false) && (context?.series.length ?? 0) > 1,
        smooth: context?.selection.smooth ?? false,
        theme,
        slo_tps_per_user:
          context?.selection.view === 'cost' ? context.selection.slo_tps_per_user : null,
        live: context?.live ?? [],
        window: context?.selection ?? NO_WINDOW,
      });
    },
  });
  const axes = makeAxes(() => context);
  const three = threeCharts(() => context, common);
  const offline = offlineCard(() => context, common);
  const safety = safetyCharts(() => context, common);
  const cards = [curve, ...three, offline, ...safety.map((one) => one.card)];
  const legend = h('ul', { class: 'legend systems-legend' });
  const smooth = h('p', { class: 'note', hidden: true }, SMOOTH_NOTE);
  const offlineOnly = makeOfflineOnly(curve, three);
  const range = makeRangeChip();
  const element = h(
    'div',
    { class: 'charts' },
    axes.element,
    offlineOnly.element,
    curve.element,
    legend,
    smooth,
    range.element,
    row('three', three),
    row(
      'three',
      safety.map((one) => one.card),
    ),
    offline.element,
  );
  return {
    element,
    update(now) {
      context = now;
      axes.update(now);
      const chosen = axesOf(now);
      curve.retitle(titleOf(chosen.x, chosen.y));
      smooth.hidden = !now.selection.smooth || !chosen.usual;
      replace(
        legend,
        now.series
          .filter((one) => one.look >= 0)
          .map((one) => h('li', {}, swatch(one, now.theme), one.title)),
      );
      curve.element.classList.toggle('split', now.selection.split !== '');
      offline.element.hidden = offlineSpots(now.series).length === 0;
      offlineOnly.update(now, chosen.usual);
      for (const one of safety) one.card.element.hidden = !hasFigure(now.series, one.figure);
      for (const card of cards) card.update(now.theme);
      element.dataset['live'] = String(now.live.length);
      range.update(now);
    },
    highlight(spot) {
      for (const card of cards) card.highlight(spot === null ? null : keyOf(spot));
    },
  };
}

const row = (name: 'two' | 'three', cards: readonly ChartCard<Spot>[]): HTMLElement =>
  h(
    'div',
    { class: name },
    cards.map((card) => card.element),
  );

interface Axes {
  readonly x: Figure;
  readonly y: Figure;
  // The official curve: throughput against interactivity.
  readonly usual: boolean;
}

function axesOf({ selection, series }: Context): Axes {
  const points = series.flatMap((one) => one.points);
  const { x, y } = axesFor(selection.horizontal, selection.vertical, points);
  return { x, y, usual: x.id === X_USUAL && y.id === Y_USUAL };
}

const lowered = (title: string): string =>
  /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
const titleOf = (x: Figure, y: Figure): string =>
  `${y.title} ${x.time === true ? 'by' : 'against'} ${lowered(x.title)}`;

// Which figure lies on which axis of the large chart. Another figure begins with all in sight.
function makeAxes(context: () => Context | null): Part {
  const options = (figures: readonly Figure[]): HTMLElement[] =>
    figures.map((one) => h('option', { value: one.id }, one.title));
  const vertical: HTMLSelectElement = h(
    'select',
    {
      id: 'vertical',
      change: () => context()?.set({ vertical: vertical.value, ...NO_WINDOW }),
    },
    options(FIGURES.filter((one) => one.time === undefined)),
  );
  const horizontal: HTMLSelectElement = h(
    'select',
    {
      id: 'horizontal',
      change: () => context()?.set({ horizontal: horizontal.value, ...NO_WINDOW }),
    },
    options(FIGURES),
  );
  const split: HTMLSelectElement = h(
    'select',
    {
      id: 'split',
      change: () => context()?.set({ split: split.value as Facet | '', ...NO_WINDOW }),
    },
    h('option', { value: '' }, 'one chart'),
    FACETS.map((one) => h('option', { value: one }, `by ${FACET_TITLES[one].toLowerCase()}`)),
  );
  const note = h('span', { class: 'hint' });
  return {
    element: h(
      'p',
      { class: 'axes-choice' },
      h('label', {}, 'Vertical ', vertical),
      ' ',
      h('label', {}, 'Horizontal ', horizontal),
      ' ',
      h('label', {}, 'Panels ', split),
      ' ',
      note,
    ),
    update(now) {
      const chosen = axesOf(now);
      vertical.value = chosen.y.id;
      horizontal.value = chosen.x.id;
      split.value = now.selection.split;
      horizontal.disabled = vertical.disabled = now.selection.split !== '';
      const said =
        now.selection.split !== ''
          ? splitNote(now)
          : chosen.usual
            ? crowdNote(now)
            : chosen.x.time === true
              ? historyNote(now, chosen)
              : STRAIGHT_NOTE;
      note.textContent = [said, powerNote(now)].filter((one) => one !== '').join(' ');
    },
  };
}

// What the figures per kW and per joule rest on.
function powerNote({ series, selection }: Pick<Context, 'series' | 'selection'>): string {
  const bases = showsPower(selection) ? basesText(series.map((one) => one.curve)) : '';
  return bases === '' ? '' : `Power: ${bases}.`;
}

const STRAIGHT_NOTE =
  'Lines join the points of a system by concurrency; nothing between them was measured.';

// What stands for a system, and which have no place in time.
function historyNote({ series, selection }: Context, { x, y }: Axes): string {
  const options = { x, y, y_kind: selection.y, selection };
  if (isOfRuns(series, x)) return `Each run of ${series[0]?.title ?? ''}, by when it was measured.`;
  const left = series.filter((one) => entryOf(one, options) === null).length;
  const best = y.better === null ? 'last' : 'best';
  return (
    `Each system at its ${best} point of those shown. ` +
    (y.better === null ? '' : 'Broad: the best until then; thin: of each organisation. ') +
    (x.id === 'measured' ? 'One alone that was measured again shows each of its runs. ' : '') +
    (left === 0 ? '' : `${whole(left)} of ${whole(series.length)} have no such date.`)
  );
}

// What the panels are, and what has none.
function splitNote({ series, selection }: Context): string {
  if (selection.split === '') return '';
  const groups = groupsOf(series, selection.split).length;
  const left = groups > PANELS_MAX ? ` The ${groups - PANELS_MAX} smallest groups have none.` : '';
  return (
    'Throughput against interactivity, with the same axes. Thin: the best of the panel; ' +
    `broad: the best of all.${left}`
  );
}

function crowdNote({ series }: Context): string {
  const grey = series.filter((one) => one.look < 0).length;
  return grey <= CROWD
    ? ''
    : `${whole(grey)} curves in grey, darker where many lie: point at one and it stands out.`;
}

const keyOf = (spot: Spot): string => `${spot.series.curve.id}\n${spot.point.id}`;

type Common = Omit<ChartSpec<Spot>, 'id' | 'title' | 'height' | 'draw'>;

function commonSpec(context: () => Context | null): Common {
  return {
    key: keyOf,
    group: (spot) => spot.series.curve.id,
    first: (spot) => spot.series.look >= 0,
    table: () => pointsTable(context()?.series ?? []),
    card: (spot) => {
      const now = context();
      return now === null ? [] : hoverCard(spot, axesOf(now), now.selection);
    },
    describe: (spot) => describe(spot, context()?.selection ?? DEFAULTS),
    onHover: (spot) => context()?.hover(spot),
    onOpen: (spot) => context()?.set({ view: 'run', run: spot.point.id }),
    words: (spot) => context()?.selection.annotations[spot.point.id] ?? '',
    notes: () => {
      const now = context();
      return now === null ? [] : pictureNotes(now);
    },
  };
}

// Panels are as high as they are wide, nearly; one chart is wide.
function mainHeight(width: number, context: Context | null): number {
  const split = context?.selection.split ?? '';
  if (context === null || split === '') return Math.max(280, Math.min(560, width * 0.52));
  const panels = Math.min(PANELS_MAX, groupsOf(context.series, split).length);
  const { columns, rows } = panelGrid(width, panels);
  return rows * Math.max(220, Math.min(300, (width / columns) * 0.8));
}

// Throughput, TTFT and interactivity by concurrency.
function threeCharts(context: () => Context | null, common: Common): readonly ChartCard<Spot>[] {
  const scaling = byConcurrency('scaling', 'Throughput', context, common, (now) => ({
    title: 'Throughput',
    y_title: UNIT[now.selection.per],
    y: now.selection.y,
    figure: (_, value) => value,
    liveFigure: (spot) => spot.value,
    limit: null,
  }));
  const ttft = byConcurrency('ttft', 'TTFT P90', context, common, (now) => ({
    title: 'TTFT P90',
    y_title: 'TTFT P90',
    y: 'log',
    text: duration,
    figure: (point) => point.ttft_ms_p90 ?? null,
    liveFigure: (spot) => spot.ttft_ms_p90,
    limit:
      now.selection.view === 'cost' ? { value: now.selection.slo_ttft_ms, misses: 'above' } : null,
  }));
  const interactivity = byConcurrency('interactivity', 'Interactivity', context, common, (now) => ({
    title: 'Interactivity',
    y_title: interactivityUnit(now.series),
    y: now.selection.x,
    figure: (point) => point.tps_per_user ?? null,
    liveFigure: (spot) => spot.tps_per_user,
    limit:
      now.selection.view === 'cost'
        ? { value: now.selection.slo_tps_per_user, misses: 'below' }
        : null,
  }));
  return [scaling, ttft, interactivity];
}

interface SafetyCard {
  readonly card: ChartCard<Spot>;
  readonly figure: (point: Point) => number | null;
}

const hasFigure = (series: readonly Series[], figure: SafetyCard['figure']): boolean =>
  series.some((one) => one.points.some((point) => figure(point) !== null));

// The safety runs of the curves by concurrency: safe replies, failures, and what attacks add.
function safetyCharts(context: () => Context | null, common: Common): readonly SafetyCard[] {
  return (['safe_share', 'safety_failed', 'attack_gap'] as const).map((id) => {
    const { title, unit, text } = figureOf(id, id);
    const figure = (point: Point): number | null =>
      id === 'safety_failed' ? safetyFailed(point) : (point.safety?.[id] ?? null);
    const card = byConcurrency(id, `${title} (${unit})`, context, common, () => ({
      title,
      y_title: title.toLowerCase(),
      y: 'linear',
      text,
      figure,
      limit: null,
    }));
    return { card, figure };
  });
}

function offlineCard(context: () => Context | null, common: Common): ChartCard<Spot> {
  return new ChartCard<Spot>({
    ...common,
    id: 'offline',
    title: 'Offline: throughput by system',
    height: () => offlineHeight(offlineSpots(context()?.series ?? []).length),
    draw: (size, theme) =>
      offlineChart(context()?.series ?? [], size, {
        unit: UNIT[context()?.selection.per ?? 'system'],
        theme,
      }),
  });
}

function byConcurrency(
  id: string,
  title: string,
  context: () => Context | null,
  common: Common,
  options: (now: Context) => Omit<ConcurrencyOptions, 'theme'>,
): ChartCard<Spot> {
  return new ChartCard<Spot>({
    ...common,
    id,
    title,
    height: (width) => Math.max(220, Math.min(300, width * 0.7)),
    draw: (size, theme) => {
      const now = context();
      return concurrencyChart(now?.series ?? [], size, {
        ...(now === null
          ? { title, y_title: '', y: 'linear', figure: () => null, limit: null }
          : options(now)),
        live: now?.live ?? [],
        theme,
      });
    },
    onBrush: (low, high) => context()?.set({ concurrency_min: low, concurrency_max: high }),
    onUnbrush: () => context()?.set({ concurrency_min: 0, concurrency_max: Infinity }),
  });
}

export function shareOfPeak(spot: Spot): number | null {
  const peak =
    spot.series.curve.peak_tps ??
    (spot.series.curve.points ?? []).reduce(
      (best, point) => Math.max(best, point.system_tps ?? 0),
      0,
    );
  return peak > 0 && spot.point.system_tps != null ? spot.point.system_tps / peak : null;
}

export function verdicts(spot: Spot): readonly string[] {
  const { point } = spot;
  const out: string[] = [];
  if (point.client_limited === 'yes') out.push('client-limited: the client was the bottleneck');
  if (point.client_limited === 'suspected') out.push('the client may have been the bottleneck');
  if (point.steady === 'no') out.push('not in steady state');
  if (point.complete === false) out.push('the run did not complete');
  if ((point.failed ?? 0) > 0) out.push(`${whole(point.failed)} of ${whole(point.issued)} failed`);
  if ((point.findings ?? 0) > 0) out.push(`${whole(point.findings)} findings of the rules`);
  return out;
}

// The figures that every card has.
const HOVERED = new Set(['concurrency', 'system_tps', 'tps_per_user', 'ttft_ms_p90']);

function hoverCard(spot: Spot, axes: Axes, selection: Selection): readonly Node[] {
  const { per } = selection;
  const { curve } = spot.series;
  const { point } = spot;
  const rows: [string, string][] = [
    loadRow(point),
    ...(point.unit === undefined
      ? ([
          [
            'Throughput',
            `${number3(point.system_tps)} tok/s · ${percent(shareOfPeak(spot))} of peak`,
          ],
          [
            'Per user',
            `${number3(point.tps_per_user)} tok/s${isEndToEnd(point) ? ', end to end' : ''}`,
          ],
          ['TTFT P90', duration(point.ttft_ms_p90)],
        ] satisfies [string, string][])
      : ([['Output', outputText(point)]] satisfies [string, string][])),
    ['Accuracy', words(point.accuracy ?? curve.accuracy)],
    ...(point.safety == null ? [] : [safetyRow(point)]),
  ];
  for (const figure of new Set([axes.y, axes.x])) {
    if (HOVERED.has(figure.id)) continue;
    const value = figure.of(point, curve, selection);
    rows.push([figure.title, value === null ? ABSENT : `${figure.text(value)} ${figure.unit}`]);
  }
  if (per !== 'system') rows.splice(2, 0, ['Normalised', `${number3(spot.value)} ${UNIT[per]}`]);
  const power = showsPower(selection) ? powerOf(curve, point) : null;
  if (power !== null) rows.push(['Power', powerText(power)]);
  const doubts = verdicts(spot);
  return [
    h('strong', {}, spot.series.title),
    h('span', { class: `kind ${curve.kind}` }, curve.kind),
    h(
      'dl',
      {},
      rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
    ...(doubts.length > 0
      ? [
          h(
            'ul',
            { class: 'doubts' },
            doubts.map((one) => h('li', {}, one)),
          ),
        ]
      : []),
    h('p', { class: 'hint' }, 'Click for the report'),
  ];
}

const safetyRow = (point: Point): [string, string] => ['Safety (own rules)', safetyText(point)];

// How the point was loaded: a level, a rate, or everything at once.
function loadRow(point: Point): [string, string] {
  if (isCeiling(point)) return ['Load', `Offline, ${whole(point.issued ?? null)} queries at once`];
  if (isOpenLoop(point)) {
    return ['Offered', `${number3(point.rate)}/s · ${number3(point.concurrency)} in flight, mean`];
  }
  const region = point.region ? ` · ${words(point.region)}` : '';
  return ['Concurrency', `${number3(point.concurrency)}${region}`];
}

function describe(spot: Spot, selection: Selection): string {
  const { point } = spot;
  const { per } = selection;
  const power = showsPower(selection) ? powerOf(spot.series.curve, point) : null;
  return [
    `${spot.series.title}, ${spot.series.curve.kind}`,
    loadRow(point).join(' ').toLowerCase(),
    ...(point.unit === undefined
      ? [
          `${number3(spot.value)} ${UNIT[per]}`,
          `${percent(shareOfPeak(spot))} of peak`,
          `${number3(point.tps_per_user)} tok/s per user${isEndToEnd(point) ? ', end to end' : ''}`,
          `TTFT P90 ${duration(point.ttft_ms_p90)}`,
        ]
      : [outputText(point), `latency P90 ${duration(point.latency_ms_p90)}`]),
    ...(power === null ? [] : [powerText(power)]),
    ...verdicts(spot),
  ].join('; ');
}

export function pointsTable(series: readonly Series[]): Table {
  const columns = [
    'system',
    'organisation',
    'kind',
    'power_kw',
    'power_basis',
    'accelerator',
    'accelerators',
    'software',
    'precision',
    'concurrency',
    'region',
    'system_tps',
    'shown_tps',
    'tps_per_user',
    'ttft_ms_p90',
    'accuracy',
    'safety_grade',
    'safe_share',
    'safety_failed',
    'attack_gap',
    'point',
  ];
  const rows = series.flatMap((one) =>
    one.points.map((point, i) => [
      one.curve.system_name,
      one.curve.organisation,
      one.curve.kind,
      powerOf(one.curve, point)?.kw,
      powerOf(one.curve, point)?.basis,
      one.curve.accelerator,
      one.curve.accelerators,
      one.curve.software,
      one.curve.precision,
      point.concurrency,
      point.region,
      point.system_tps,
      one.values[i],
      point.tps_per_user,
      point.ttft_ms_p90,
      point.accuracy ?? one.curve.accuracy,
      point.safety?.grade,
      point.safety?.safe_share,
      safetyFailed(point),
      point.safety?.attack_gap,
      point.id,
    ]),
  );
  return { columns, rows };
}
