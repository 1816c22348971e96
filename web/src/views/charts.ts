// The four linked charts: throughput against interactivity, and three figures by concurrency.

import { h, replace } from '../base/dom.ts';
import { duration, number3, percent, whole, words } from '../base/format.ts';
import type { Table } from '../base/table.ts';
import { concurrencyChart, type ConcurrencyOptions } from '../charts/concurrency_chart.ts';
import { type Spot, curveChart } from '../charts/curve_chart.ts';
import type { Series } from '../state/curves.ts';
import type { Normalisation } from '../state/selection.ts';
import { ChartCard, type ChartSpec } from './chart_card.ts';
import type { Context, Part } from './context.ts';
import { makeRangeChip } from './range_chip.ts';
import { swatch } from './swatch.ts';

export const UNIT: Readonly<Record<Normalisation, string>> = {
  system: 'tok/s',
  accelerator: 'tok/s per accelerator',
  kw: 'tok/s per kW',
  usd: 'tok/s per $/h',
};

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
    height: (width) => Math.max(280, Math.min(560, width * 0.52)),
    draw: (size, theme) =>
      curveChart(context?.series ?? [], size, {
        x: context?.selection.x ?? 'log',
        y: context?.selection.y ?? 'linear',
        y_title: UNIT[context?.selection.per ?? 'system'],
        envelope: context?.selection.envelope ?? false,
        smooth: context?.selection.smooth ?? false,
        theme,
        slo_tps_per_user:
          context?.selection.view === 'cost' ? context.selection.slo_tps_per_user : null,
        live: context?.live ?? [],
      }),
  });
  const three = threeCharts(() => context, common);
  const cards = [curve, ...three];
  const legend = h('ul', { class: 'legend systems-legend' });
  const smooth = h(
    'p',
    { class: 'note', hidden: true },
    'Dotted: interpolated (not official). The official curve is the staircase.',
  );
  const range = makeRangeChip();
  const element = h(
    'div',
    { class: 'charts' },
    curve.element,
    legend,
    smooth,
    range.element,
    h(
      'div',
      { class: 'three' },
      three.map((card) => card.element),
    ),
  );
  return {
    element,
    update(now) {
      context = now;
      smooth.hidden = !now.selection.smooth;
      replace(
        legend,
        now.series
          .filter((one) => one.look >= 0)
          .map((one) => h('li', {}, swatch(one, now.theme), one.curve.system_name)),
      );
      for (const card of cards) card.update(now.theme);
      element.dataset['live'] = String(now.live.length);
      range.update(now);
    },
    highlight(spot) {
      for (const card of cards) card.highlight(spot === null ? null : keyOf(spot));
    },
  };
}

const keyOf = (spot: Spot): string => `${spot.series.curve.id}\n${spot.point.id}`;

type Common = Omit<ChartSpec<Spot>, 'id' | 'title' | 'height' | 'draw'>;

function commonSpec(context: () => Context | null): Common {
  return {
    key: keyOf,
    group: (spot) => spot.series.curve.id,
    table: () => pointsTable(context()?.series ?? []),
    card: (spot) => hoverCard(spot, context()?.selection.per ?? 'system'),
    describe: (spot) => describe(spot, context()?.selection.per ?? 'system'),
    onHover: (spot) => context()?.hover(spot),
    onOpen: (spot) => context()?.set({ view: 'run', run: spot.point.id }),
  };
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
    y_title: 'tok/s per user',
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

function hoverCard(spot: Spot, per: Normalisation): readonly Node[] {
  const { curve } = spot.series;
  const { point } = spot;
  const rows: [string, string][] = [
    [
      'Concurrency',
      `${number3(point.concurrency)}${point.region ? ` · ${words(point.region)}` : ''}`,
    ],
    ['Throughput', `${number3(point.system_tps)} tok/s · ${percent(shareOfPeak(spot))} of peak`],
    ['Per user', `${number3(point.tps_per_user)} tok/s`],
    ['TTFT P90', duration(point.ttft_ms_p90)],
    ['Accuracy', words(point.accuracy ?? curve.accuracy)],
  ];
  if (per !== 'system') rows.splice(2, 0, ['Normalised', `${number3(spot.value)} ${UNIT[per]}`]);
  const doubts = verdicts(spot);
  return [
    h('strong', {}, curve.system_name),
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

function describe(spot: Spot, per: Normalisation): string {
  const { point } = spot;
  return [
    `${spot.series.curve.system_name}, ${spot.series.curve.kind}`,
    `concurrency ${number3(point.concurrency)}`,
    `${number3(spot.value)} ${UNIT[per]}`,
    `${percent(shareOfPeak(spot))} of peak`,
    `${number3(point.tps_per_user)} tok/s per user`,
    `TTFT P90 ${duration(point.ttft_ms_p90)}`,
    ...verdicts(spot),
  ].join('; ');
}

export function pointsTable(series: readonly Series[]): Table {
  const columns = [
    'system',
    'organisation',
    'kind',
    'accelerator',
    'accelerators',
    'software',
    'concurrency',
    'region',
    'system_tps',
    'shown_tps',
    'tps_per_user',
    'ttft_ms_p90',
    'accuracy',
    'point',
  ];
  const rows = series.flatMap((one) =>
    one.points.map((point, i) => [
      one.curve.system_name,
      one.curve.organisation,
      one.curve.kind,
      one.curve.accelerator,
      one.curve.accelerators,
      one.curve.software,
      point.concurrency,
      point.region,
      point.system_tps,
      one.values[i],
      point.tps_per_user,
      point.ttft_ms_p90,
      point.accuracy ?? one.curve.accuracy,
      point.id,
    ]),
  );
  return { columns, rows };
}
