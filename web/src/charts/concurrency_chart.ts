// A figure by concurrency: throughput, TTFT or interactivity. Steps hold a value until the next
// measured concurrency.

import type { Point } from '../api/generated.ts';
import { whole } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { type Series, isOpenLoop } from '../state/curves.ts';
import type { LiveSpot } from '../state/live.ts';
import {
  type Drawing,
  type Size,
  type Target,
  TEXT_SIZE,
  clipped,
  emptyNote,
  makeFrame,
} from './axes.ts';
import type { Spot } from './curve_chart.ts';
import { type ScaleKind, domainOf } from './scale.ts';
import type { Mark } from './scene.ts';
import { CurveMarks, liveMarks, lookOrder } from './series_marks.ts';

export interface ConcurrencyOptions {
  readonly title: string;
  readonly y_title: string;
  readonly y: ScaleKind;
  readonly text?: (value: number) => string;
  // The figure of a point; null where it has none. The value is throughput as normalised.
  readonly figure: (point: Point, value: number) => number | null;
  // A limit of the SLO, and which side of it misses.
  readonly limit: { readonly value: number; readonly misses: 'above' | 'below' } | null;
  readonly live?: readonly LiveSpot[];
  readonly liveFigure?: (spot: LiveSpot) => number | null;
  readonly theme: Theme;
}

export function concurrencyChart(
  series: readonly Series[],
  size: Size,
  options: ConcurrencyOptions,
): Drawing<Spot> {
  const { theme } = options;
  const xs: number[] = [];
  const ys: number[] = [];
  for (const one of series) {
    one.points.forEach((point, i) => {
      const y = options.figure(point, one.values[i] as number);
      if (y === null || point.concurrency <= 0) return;
      xs.push(point.concurrency);
      ys.push(y);
    });
  }
  const live = liveOf(options);
  for (const one of live) {
    xs.push(one.x);
    ys.push(one.y);
  }
  const [xLow, xHigh] = domainOf(xs, 'log', false);
  const [yLow, yHigh] = domainOf(ys, options.y, options.y === 'linear');
  const frame = makeFrame(
    size,
    {
      kind: 'log',
      low: xLow,
      high: xHigh,
      title: 'concurrency',
      text: (level) => (Number.isInteger(level) ? whole(level) : ''),
    },
    {
      kind: options.y,
      low: yLow,
      high: yHigh,
      title: options.y_title,
      ...(options.text === undefined ? {} : { text: options.text }),
    },
    theme,
  );
  const targets: Target<Spot>[] = [];
  const curves = new CurveMarks(theme, 1.75, 3.2, series);
  const traced = new Map<Series, readonly number[]>();
  for (const one of lookOrder(series)) {
    const dots: number[] = [];
    const loose: number[] = [];
    one.points.forEach((point, i) => {
      const value = one.values[i] as number;
      const figure = options.figure(point, value);
      if (figure === null || point.concurrency <= 0) return;
      const x = frame.x.at(point.concurrency);
      const y = frame.y.at(figure);
      (isOpenLoop(point) ? loose : dots).push(x, y);
      targets.push({ x, y, datum: { series: one, point, value } });
    });
    curves.add(one, dots, loose);
    traced.set(one, dots);
  }
  const lines = [...curves.marks()];
  for (const one of live) {
    const at = { x: frame.x.at(one.x), y: frame.y.at(one.y) };
    lines.push(...liveMarks(at, 'running', one.look, frame.plot, theme));
  }
  if (targets.length === 0 && live.length === 0) {
    lines.push(emptyNote(frame.plot, 'No data.', theme));
  }
  const marks = [...frame.under, ...limitMarks(options, frame), clipped(frame.plot, lines)];
  const label = `${options.title} of ${series.length} systems by concurrency`;
  return {
    scene: { ...size, ground: theme.ground, label, marks },
    frame,
    targets,
    trace: ({ series: one }) => curves.trace(one, traced.get(one) ?? []),
  };
}

function liveOf(options: ConcurrencyOptions): { x: number; y: number; look: number }[] {
  return (options.live ?? []).flatMap((one) => {
    const y = options.liveFigure?.(one) ?? null;
    return one.concurrency === null || y === null || y <= 0
      ? []
      : [{ x: one.concurrency, y, look: one.look }];
  });
}

function limitMarks(options: ConcurrencyOptions, frame: Drawing<Spot>['frame']): Mark[] {
  if (options.limit === null) return [];
  const { left, top, width, height } = frame.plot;
  const at = Math.min(top + height, Math.max(top, frame.y.at(options.limit.value)));
  const [from, to] = options.limit.misses === 'above' ? [top, at] : [at, top + height];
  return [
    {
      kind: 'rect',
      x: left,
      y: from,
      w: width,
      h: to - from,
      fill: options.theme.shade,
      opacity: 0.16,
    },
    {
      kind: 'path',
      xy: [left, at, left + width, at],
      stroke: options.theme.ink,
      width: 1,
      dash: [5, 3],
    },
    {
      kind: 'text',
      x: left + 5,
      y: at - 4,
      text: 'SLO',
      fill: options.theme.ink,
      size: TEXT_SIZE,
      anchor: 'start',
      halo: options.theme.ground,
    },
  ];
}
