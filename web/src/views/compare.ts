// Two systems point by point: at equal interactivity, at equal concurrency, and what differs in
// them.

import type { Curve, Point } from '../api/generated.ts';
import { h, replace } from '../base/dom.ts';
import { ABSENT, apart, duration, number3, words } from '../base/format.ts';
import { curveChart, type Spot } from '../charts/curve_chart.ts';
import { ratioChart } from '../charts/ratio_chart.ts';
import {
  type AtInteractivity,
  atEqualConcurrency,
  atEqualInteractivity,
  bothGraded,
  differences,
  divided,
} from '../state/compare.ts';
import { makeSeries } from '../state/curves.ts';
import { safetyText } from '../state/safety.ts';
import { DEFAULTS, NORMALISATIONS, type Normalisation } from '../state/selection.ts';
import { ChartCard } from './chart_card.ts';
import type { Context, Part } from './context.ts';
import { UNIT, pointsTable } from './charts.ts';
import { PER_TITLES, keepingFocus } from './filters.ts';
import { makeSafetyPairs } from './safety_pairs.ts';
import { swatch } from './swatch.ts';
import { scrollTable } from './scroll_table.ts';

export function makeCompare(): Part {
  let context: Context | null = null;
  const picks = h('div', { class: 'picks' });
  const tables = h('div', { class: 'compare-tables' });
  const pairs = makeSafetyPairs();
  const both = new ChartCard<Spot>({
    id: 'both',
    title: 'Throughput against interactivity',
    height: (width) => Math.max(240, Math.min(420, width * 0.6)),
    draw: (size, theme) =>
      curveChart(bothSeries(context), size, {
        x: 'log',
        y: 'linear',
        y_title: UNIT[context?.selection.per ?? 'system'],
        envelope: false,
        smooth: false,
        slo_tps_per_user: null,
        empty: emptyText(context),
        theme,
      }),
    table: () => pointsTable(bothSeries(context)),
    key: (spot) => `${spot.series.curve.id} ${spot.point.id}`,
    group: (spot) => spot.series.curve.id,
    card: (spot) => [
      `${spot.series.title}, concurrency ${number3(spot.point.concurrency)}: ` +
        `${number3(spot.value)} ${UNIT[context?.selection.per ?? 'system']}`,
    ],
    describe: (spot) =>
      `${spot.series.title}, concurrency ${number3(spot.point.concurrency)}: ` +
      `${number3(spot.value)} ${UNIT[context?.selection.per ?? 'system']}`,
    onOpen: (spot) => context?.set({ view: 'run', run: spot.point.id }),
  });
  const rows = (): readonly AtInteractivity[] => {
    const [a, b] = pair(context);
    return a === undefined || b === undefined ? [] : atEqualInteractivity(a, b);
  };
  const ratio = new ChartCard<AtInteractivity>({
    id: 'ratio',
    title: 'B over A at equal interactivity',
    height: (width) => Math.max(240, Math.min(420, width * 0.6)),
    draw: (size, theme) => ratioChart(rows(), size, theme, emptyText(context)),
    table: () => ({
      columns: ['tps_per_user', 'a_system_tps', 'b_system_tps', 'ratio'],
      rows: rows().map((row) => [row.tps_per_user, row.a_system_tps, row.b_system_tps, row.ratio]),
    }),
    key: (row) => String(row.tps_per_user),
    group: () => '',
    card: (row) => [describeRatio(row, context)],
    describe: (row) => describeRatio(row, context),
  });
  // Where the charts are too narrow for names.
  const legend = h('ul', { class: 'legend systems-legend' });
  const element = h(
    'main',
    { class: 'compare', id: 'main' },
    h('h1', { class: 'visually-hidden' }, 'Compare'),
    picks,
    legend,
    h('div', { class: 'two' }, both.element, ratio.element),
    tables,
    pairs.element,
  );
  return {
    element,
    update(now) {
      context = now;
      const [a, b] = pair(now);
      keepingFocus(picks, () =>
        replace(
          picks,
          pick('a', now),
          pick('b', now),
          h(
            'button',
            {
              type: 'button',
              id: 'swap',
              click: () => now.set({ a: now.selection.b, b: now.selection.a }),
            },
            'Swap',
          ),
          pickPer(now),
        ),
      );
      replace(
        legend,
        bothSeries(now).map((one) => h('li', {}, swatch(one, now.theme), one.title)),
      );
      both.update(now.theme);
      ratio.update(now.theme);
      replace(
        tables,
        a === undefined || b === undefined
          ? h('p', { class: 'hint' }, emptyText(now))
          : [...compareTables(a, b, UNIT[now.selection.per]), ...safetySections(...chosen(now))],
      );
      pairs.update(...chosen(now), now);
    },
  };
}

type Pair = readonly [Curve | undefined, Curve | undefined];

function chosen(context: Context | null): Pair {
  const find = (id: string | undefined): Curve | undefined =>
    context?.curves.find((one) => one.id === id);
  return [find(context?.selection.a), find(context?.selection.b)];
}

function emptyText(context: Context | null): string {
  return chosen(context).includes(undefined)
    ? 'Choose two systems.'
    : 'The two have no interactivity in common, or none that is known.';
}

function pair(context: Context | null): Pair {
  const [a, b] = chosen(context).map((curve) =>
    curve === undefined || context === null ? curve : divided(curve, context.selection),
  );
  return [a, b];
}

function bothSeries(context: Context | null): ReturnType<typeof makeSeries> {
  const curves = pair(context)
    .filter((curve): curve is Curve => curve !== undefined)
    .map((curve) => ({ ...curve, twin_of: null }));
  return makeSeries(curves, DEFAULTS);
}

function describeRatio(row: AtInteractivity, context: Context | null): string {
  return (
    `At ${number3(row.tps_per_user)} tok/s per user: A ${number3(row.a_system_tps)}, ` +
    `B ${number3(row.b_system_tps)} ${UNIT[context?.selection.per ?? 'system']}, ` +
    `${number3(row.ratio)} times`
  );
}

function pick(side: 'a' | 'b', context: Context): HTMLElement {
  const value = context.selection[side];
  const select = h(
    'select',
    { id: `pick-${side}`, change: () => context.set({ [side]: select.value }) },
    h('option', { value: '' }, 'choose a system'),
    context.curves.map((curve) =>
      h(
        'option',
        { value: curve.id, selected: curve.id === value },
        [curve.system_name, curve.precision ?? '', curve.kind, curve.dataset]
          .filter((part) => part !== '')
          .join(' · '),
      ),
    ),
  );
  return h('label', {}, h('strong', {}, side.toUpperCase()), ' ', select);
}

// Eight accelerators beside one are compared as systems, or each by its accelerator, kW or dollar.
function pickPer(context: Context): HTMLElement {
  const select = h(
    'select',
    { id: 'compare-per', change: () => context.set({ per: select.value as Normalisation }) },
    NORMALISATIONS.map((one) =>
      h('option', { value: one, selected: one === context.selection.per }, PER_TITLES[one]),
    ),
  );
  return h('label', {}, 'Throughput ', select);
}

function compareTables(a: Curve, b: Curve, unit: string): HTMLElement[] {
  const equal = atEqualInteractivity(a, b);
  const texts = apart(equal.map((row) => row.tps_per_user));
  return [
    section(
      'What differs',
      ['', a.system_name, b.system_name],
      differences(a, b).map((one) => [one.title, words(one.a), words(one.b)]),
      false,
    ),
    section(
      'At equal interactivity (steps, no interpolation)',
      ['tok/s per user', `A ${unit}`, `B ${unit}`, 'B ÷ A'],
      equal.map((row, i) => [
        texts[i] ?? ABSENT,
        number3(row.a_system_tps),
        number3(row.b_system_tps),
        row.ratio === null ? ABSENT : `${number3(row.ratio)} ×`,
      ]),
      true,
    ),
    section(
      'At equal concurrency',
      [
        'Concurrency',
        `A ${unit}`,
        `B ${unit}`,
        'B ÷ A',
        'A per user',
        'B per user',
        'A TTFT P90',
        'B TTFT P90',
      ],
      atEqualConcurrency(a, b).map((row) => [number3(row.concurrency), ...ofBoth(row.a, row.b)]),
      true,
    ),
  ];
}

// Grades side by side; whether they differ by more than chance stands below, from the verdicts of
// every prompt.
function safetySections(a: Curve | undefined, b: Curve | undefined): HTMLElement[] {
  if (a === undefined || b === undefined) return [];
  const rows = bothGraded(a, b);
  if (rows.length === 0) return [];
  const title = 'Safety at equal concurrency (own rules)';
  const side = (letter: string, curve: Curve): string =>
    `${letter}${curve.precision == null ? '' : ` ${curve.precision}`}`;
  return [
    section(
      title,
      ['Concurrency', side('A', a), side('B', b)],
      rows.map((row) => [number3(row.concurrency), safetyText(row.a), safetyText(row.b)]),
      false,
    ),
  ];
}

function ofBoth(a: Point, b: Point): readonly string[] {
  const ratio =
    a.system_tps != null && b.system_tps != null && a.system_tps > 0
      ? `${number3(b.system_tps / a.system_tps)} ×`
      : ABSENT;
  return [
    number3(a.system_tps),
    number3(b.system_tps),
    ratio,
    number3(a.tps_per_user),
    number3(b.tps_per_user),
    duration(a.ttft_ms_p90),
    duration(b.ttft_ms_p90),
  ];
}

function section(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: boolean,
): HTMLElement {
  const number = numbers ? 'number' : null;
  return h(
    'section',
    {},
    h('h2', {}, title),
    rows.length === 0
      ? h('p', {}, 'Nothing in common.')
      : scrollTable(
          title,
          columns,
          rows.map((row) =>
            h(
              'tr',
              {},
              row.map((text) => h('td', { class: number }, text)),
            ),
          ),
          number,
        ),
  );
}
