import { describe, expect, it } from 'vitest';
import type { Curve, Point } from '../api/generated.ts';
import { random } from '../../journeys/fixture_events.ts';
import { LIGHT } from '../base/theme.ts';
import { withBoard } from '../state/board.ts';
import { type Series, datedAt, makeSeries } from '../state/curves.ts';
import { X_USUAL, Y_USUAL, figureOf } from '../state/figures.ts';
import { DEFAULTS } from '../state/selection.ts';
import { curveOf } from '../state/testing_curve.ts';
import { type Entry, historyChart, recordOf } from './history_chart.ts';
import { DAY, timeTicks } from './scale.ts';
import { NO_WINDOW } from './window.ts';
import { writeSvg } from './write_svg.ts';

const at = (day: string, more: Partial<Point>): Point => ({
  id: `${day}-${more.concurrency ?? 1}`,
  concurrency: 1,
  started: `${day}T00:00:00Z`,
  tps_per_user: 10,
  ...more,
});

const named = (name: string, points: readonly Point[], more: Partial<Curve> = {}): Curve =>
  curveOf(points, { id: name, system_name: name, ...more });

const chartOf = (series: readonly Series[], vertical: string): ReturnType<typeof historyChart> =>
  historyChart(
    series,
    { width: 900, height: 400 },
    {
      x: figureOf('measured', X_USUAL),
      y: figureOf(vertical, Y_USUAL),
      x_kind: 'linear',
      y_kind: 'linear',
      selection: DEFAULTS,
      window: NO_WINDOW,
      theme: LIGHT,
    },
  );

describe('a figure by date', () => {
  const curves = [
    named('late', [
      at('2026-05-01', { concurrency: 4, system_tps: 90, ttft_ms_p90: 80 }),
      at('2026-05-02', { concurrency: 8, system_tps: 70, ttft_ms_p90: 50 }),
    ]),
    named('early', [at('2026-03-01', { system_tps: 100, ttft_ms_p90: 60 })]),
    named('dateless', [{ id: 'x', concurrency: 1, system_tps: 999, tps_per_user: 1 }]),
    named('offline', [
      at('2026-04-01', {
        concurrency: 0,
        system_tps: 120,
        offline: 'dedicated',
        region: 'offline',
      }),
    ]),
  ];
  const series = makeSeries(curves, DEFAULTS);

  it('has a mark a run where a system alone was measured again, walked through by date', () => {
    const again = named('nightly', [
      at('2026-05-03', { concurrency: 4, system_tps: 80 }),
      at('2026-05-01', { concurrency: 4, system_tps: 90 }),
      at('2026-05-02', { concurrency: 8, system_tps: 70 }),
    ]);
    const alone = makeSeries([again], DEFAULTS);
    const spots = chartOf(alone, 'system_tps').targets.map((one) => one.datum);
    expect(spots.map((spot) => spot.value)).toEqual([90, 70, 80]);
    expect(spots.map((spot) => spot.point.concurrency)).toEqual([4, 8, 4]);
    expect(spots.every((spot) => spot.series === alone[0])).toBe(true);
    expect(chartOf(makeSeries([curves[0] as Curve], DEFAULTS), 'system_tps').targets).toHaveLength(
      1,
    );
  });

  it('has a mark a system, its best, in the order of time; none without a date', () => {
    const ids = (vertical: string): readonly string[] =>
      chartOf(series, vertical).targets.map((one) => one.datum.point.id);
    expect(ids('system_tps')).toEqual(['2026-03-01-1', '2026-04-01-0', '2026-05-01-4']);
    // Lower is better; an Offline run has no TTFT.
    expect(ids('ttft_ms_p90')).toEqual(['2026-03-01-1', '2026-05-02-8']);
    expect(writeSvg(chartOf(series, 'system_tps').scene)).toMatch(/2026-04-\d\d</);
    expect(writeSvg(chartOf([], 'system_tps').scene)).toContain('No system shown has a date');
  });

  it('has a record that a slow search finds too', () => {
    const draw = random(11);
    const figure = figureOf('system_tps', Y_USUAL);
    const lower = figureOf('ttft_ms_p90', Y_USUAL);
    const [one] = series;
    if (one === undefined) throw new Error('no series');
    for (let round = 0; round < 300; round += 1) {
      const entries = Array.from({ length: Math.floor(draw() * 9) }, (_, i): Entry => {
        const spot = { series: one, point: { id: `${i}`, concurrency: i }, value: 0 };
        return { spot, x: Math.floor(draw() * 5), y: Math.floor(draw() * 5) };
      });
      for (const [of, sign] of [
        [figure, 1],
        [lower, -1],
      ] as const) {
        // Where the record stands at each instant is all that the line shows.
        const bestUntil = (list: readonly Entry[], x: number): number =>
          Math.max(...list.filter((e) => e.x <= x).map((e) => sign * e.y), -Infinity);
        const record = recordOf(entries, of);
        for (const x of [0, 1, 2, 3, 4]) expect(bestUntil(record, x)).toBe(bestUntil(entries, x));
        record.slice(1).forEach((entry, i) => {
          expect(sign * entry.y).toBeGreaterThan(sign * (record[i] as Entry).y);
          expect(entry.x).toBeGreaterThan((record[i] as Entry).x);
        });
      }
    }
    expect(recordOf([], figure)).toEqual([]);
  });

  it('never has a date as the vertical axis', () => {
    expect(figureOf('measured', Y_USUAL).id).toBe(Y_USUAL);
    expect(figureOf('measured', X_USUAL).id).toBe('measured');
  });
});

describe('dates of curves', () => {
  const board = [
    { id: 'a', organisation: 'o', state: 'published', cohort_date: '2026-06-02' },
    { id: 'b', organisation: 'o', state: 'withdrawn', cohort_date: '2026-06-02' },
  ] as const;

  it('are those of publication, else of the last measurement', () => {
    const point = at('2026-05-01', {});
    const [published, withdrawn, told, unknown] = withBoard(
      [
        named('1', [point], { submission: 'a' }),
        named('2', [point], { submission: 'b' }),
        named('3', [point], { submission: 'a', published: '2026-01-01' }),
        named('4', [{ id: 'p', concurrency: 1 }], { submission: 'c' }),
      ],
      board,
    ) as [Curve, Curve, Curve, Curve];
    expect([published.status, withdrawn.status, unknown.status]).toEqual([
      'published',
      'withdrawn',
      undefined,
    ]);
    const day = (text: string): number => Date.parse(text);
    expect(datedAt(published)).toBe(day('2026-06-02'));
    expect(datedAt(withdrawn)).toBe(day('2026-05-01'));
    expect(datedAt(told)).toBe(day('2026-01-01'));
    expect(datedAt(unknown)).toBeNull();
  });

  it('keep what lies between two days, both whole', () => {
    const curves = [
      named('1', [at('2026-05-01', { system_tps: 1 })]),
      named('2', [{ ...at('2026-05-02', { system_tps: 1 }), started: '2026-05-02T23:59:59Z' }]),
      named('3', [{ id: 'p', concurrency: 1, system_tps: 1 }]),
    ];
    const shown = (since: string, until: string): readonly string[] =>
      makeSeries(curves, { ...DEFAULTS, since, until }).map((one) => one.curve.id);
    expect(shown('', '')).toEqual(['1', '2', '3']);
    expect(shown('2026-05-02', '2026-05-02')).toEqual(['2']);
    expect(shown('', '2026-05-01')).toEqual(['1']);
    expect(shown('2026-05-03', '')).toEqual([]);
  });
});

describe('ticks of time', () => {
  it('are round, lie inside, and are about as many as were wanted', () => {
    const draw = random(5);
    for (let i = 0; i < 500; i += 1) {
      const low = Date.UTC(2020, 0, 1) + draw() * 2000 * DAY;
      const span = 10 ** (draw() * 6.5) * 60e3;
      const ticks = timeTicks(low, low + span, 8);
      expect(ticks.length).toBeLessThanOrEqual(11);
      for (const tick of ticks) {
        expect(tick).toBeGreaterThanOrEqual(low);
        expect(tick).toBeLessThanOrEqual(low + span);
        expect(tick % 60e3).toBe(0);
      }
      if (span > 500 * DAY) for (const tick of ticks) expect(new Date(tick).getUTCDate()).toBe(1);
      if (span > 20 * 60e3 && span < 1000 * DAY) expect(ticks.length).toBeGreaterThanOrEqual(2);
    }
    expect(timeTicks(5, 5, 8)).toEqual([5]);
  });
});
