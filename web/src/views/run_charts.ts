// The charts of one run's report.

import type { Distribution, Run } from '../api/generated.ts';
import { duration, number3 } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { type Share, distributionChart } from '../charts/distribution_chart.ts';
import {
  type Moment,
  type Span,
  type TimeSeries,
  timelineChart,
} from '../charts/timeline_chart.ts';
import { ChartCard } from './chart_card.ts';

const TIMES: readonly (readonly [string, string])[] = [
  ['ttft', 'TTFT'],
  ['tpot', 'TPOT'],
  ['itl', 'ITL'],
  ['latency', 'latency'],
];
const LENGTHS: readonly (readonly [string, string])[] = [
  ['isl', 'input'],
  ['osl', 'output'],
];

export function runCharts(run: Run, theme: Theme): readonly HTMLElement[] {
  const cards: HTMLElement[] = [];
  for (const [id, title, names, unit] of [
    ['times', 'How long replies took', TIMES, 'ms'],
    ['lengths', 'How long prompts and replies were', LENGTHS, 'tokens'],
  ] as const) {
    const shown = names.flatMap(([key, name]): [string, Distribution][] => {
      const one = run.distributions[key];
      return one === undefined || one.count === 0 ? [] : [[name, one]];
    });
    if (shown.length > 0) cards.push(distributionCard(id, title, shown, unit, theme));
  }
  return [...cards, ...timelineCards(run, theme)];
}

function distributionCard(
  id: string,
  title: string,
  shown: readonly [string, Distribution][],
  unit: 'ms' | 'tokens',
  theme: Theme,
): HTMLElement {
  const text = unit === 'ms' ? duration : number3;
  let rows: readonly Share[] = [];
  const card = new ChartCard<Share>({
    id: `run-${id}`,
    title,
    height: (width) => Math.max(220, Math.min(320, width * 0.5)),
    draw: (size, now) => {
      const drawing = distributionChart(shown, size, { unit, theme: now });
      rows = drawing.targets.map((target) => target.datum);
      return drawing;
    },
    table: () => ({
      columns: ['series', 'share', unit],
      rows: rows.map((one) => [one.name, one.share, one.value]),
    }),
    key: (one) => `${one.name} ${one.share} ${one.value}`,
    group: (one) => one.name,
    card: (one) => [`${number3(one.share * 100)} % of ${one.name}: at most ${text(one.value)}`],
    describe: (one) => `${one.name}: ${number3(one.share * 100)} % at most ${text(one.value)}`,
  });
  card.update(theme);
  return card.element;
}

function spansOf(run: Run): readonly Span[] {
  const out: Span[] = [];
  for (const phase of run.phases ?? []) {
    const [start, issued, drained] = [phase.started_s, phase.issue_ended_s, phase.drained_s];
    if (phase.kind === 'warmup' && start != null && (drained ?? issued) != null) {
      out.push({
        name: 'warm-up',
        from_s: start,
        to_s: (drained ?? issued) as number,
        steady: false,
      });
    }
    if (phase.kind === 'performance' && issued != null && drained != null) {
      out.push({ name: 'drain', from_s: issued, to_s: drained, steady: false });
    }
  }
  const steady = run.steady_state;
  if (steady?.from_s != null && steady.to_s != null) {
    out.push({
      name: 'steady-state window',
      from_s: steady.from_s,
      to_s: steady.to_s,
      steady: true,
    });
  }
  return out;
}

function timelineCards(run: Run, theme: Theme): readonly HTMLElement[] {
  const { timeline } = run;
  if (timeline == null) return [];
  const spans = spansOf(run);
  const list = (
    values: readonly (number | null)[] | null | undefined,
    name: string,
  ): TimeSeries[] => (values == null || values.length === 0 ? [] : [{ name, values }]);
  const charts: [
    string,
    string,
    string,
    TimeSeries[],
    'linear' | 'log',
    ((v: number) => string)?,
  ][] = [
    ['output', 'Output over the run', 'tok/s', list(timeline.output_tps, 'tok/s'), 'linear'],
    [
      'ttft',
      'TTFT over the run',
      'TTFT',
      [...list(timeline.ttft_ms_p50, 'P50'), ...list(timeline.ttft_ms_p90, 'P90')],
      'log',
      duration,
    ],
    ['flight', 'Queries in flight', 'queries', list(timeline.in_flight, 'in flight'), 'linear'],
    [
      'counts',
      'Queries a bucket',
      'queries',
      [
        ...list(timeline.sent, 'sent'),
        ...list(timeline.completed, 'completed'),
        ...list(timeline.failed, 'failed'),
      ],
      'linear',
    ],
  ];
  return charts
    .filter(([, , , series]) => series.length > 0)
    .map(([id, title, unit, series, y, text = number3]) => {
      const card = new ChartCard<Moment>({
        id: `run-${id}`,
        title,
        height: (width) => Math.max(180, Math.min(240, width * 0.36)),
        draw: (size, now) =>
          timelineChart(timeline.width_s, series, spans, size, {
            y_title: unit,
            y,
            theme: now,
            ...(text === number3 ? {} : { text }),
          }),
        table: () => ({
          columns: ['from_s', ...series.map((one) => one.name)],
          rows: (series[0]?.values ?? []).map((_, i) => [
            i * timeline.width_s,
            ...series.map((one) => one.values[i]),
          ]),
        }),
        key: (one) => `${one.name} ${one.at_s}`,
        group: (one) => one.name,
        card: (one) => [`${one.name} at ${number3(one.at_s)} s: ${text(one.value)}`],
        describe: (one) => `${one.name} at ${number3(one.at_s)} s: ${text(one.value)}`,
      });
      card.update(theme);
      return card.element;
    });
}
