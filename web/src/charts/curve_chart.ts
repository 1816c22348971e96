// Throughput against interactivity: the large chart. One step curve a system.
//
// The official curve is a staircase: going to more concurrency (to the left, up), a throughput is
// held until the next measured point. Nothing is interpolated; a smooth line is an overlay that
// says so in words. A dedicated Offline point is a dotted ceiling, not a step. Simulated systems
// are dashed.

import type { Point } from '../api/generated.ts';
import { number3 } from '../base/format.ts';
import { type Theme, colourOf } from '../base/theme.ts';
import { type Series, type XY, envelope, interactivityUnit, isOpenLoop } from '../state/curves.ts';
import type { LiveSpot } from '../state/live.ts';
import {
  type Drawing,
  type Frame,
  type Size,
  type Target,
  clipped,
  emptyNote,
  makeFrame,
  TEXT_SIZE,
} from './axes.ts';
import { type ScaleKind, domainOf } from './scale.ts';
import type { Mark } from './scene.ts';
import { type Label, placeLabels } from './labels.ts';
import { CurveMarks, liveMarks, lookOrder, staircase } from './series_marks.ts';
import { NO_WINDOW, type Window, isInside, isWindow } from './window.ts';

export interface Spot {
  readonly series: Series;
  readonly point: Point;
  readonly value: number;
}

export interface CurveOptions {
  readonly x: ScaleKind;
  readonly y: ScaleKind;
  readonly y_title: string;
  readonly envelope: boolean;
  readonly smooth: boolean;
  readonly slo_tps_per_user: number | null;
  readonly live?: readonly LiveSpot[];
  readonly window?: Window;
  // What stands in a chart without a curve.
  readonly empty?: string;
  readonly theme: Theme;
}

export function curveChart(
  series: readonly Series[],
  size: Size,
  options: CurveOptions,
): Drawing<Spot> {
  const spots = spotsOf(series);
  const frame = frameOf(series, spots, size, options);
  const { theme } = options;
  const targets: Target<Spot>[] = [];
  const curves = new CurveMarks(theme, 2, 4, series);
  const grouped = new Map<Series, Spot[]>();
  for (const spot of spots) {
    const list = grouped.get(spot.series);
    if (list === undefined) grouped.set(spot.series, [spot]);
    else list.push(spot);
  }
  for (const one of lookOrder(series)) {
    const own = (grouped.get(one) ?? []).sort((p, q) => p.point.concurrency - q.point.concurrency);
    addCurve(one, own, frame, options, targets, curves);
  }
  const over: Mark[] = options.envelope ? envelopeMarks(spots, frame, theme) : [];
  const lines = curves.marks();
  const live = liveOf(options);
  for (const one of live) {
    const at = { x: frame.x.at(one.tps_per_user), y: frame.y.at(one.value) };
    over.push(...liveMarks(at, one.name, one.look, frame.plot, theme));
  }
  if (spots.length === 0 && live.length === 0) {
    const why = series.some((one) => one.points.length > 0)
      ? 'No point here has an interactivity.'
      : series.some((one) => one.ceiling !== null)
        ? 'Only Offline runs here: they have no interactivity.'
        : (options.empty ?? 'No point passes the filters.');
    over.push(emptyNote(frame.plot, why, theme));
  } else if (targets.length === 0 && live.length === 0) {
    over.push(emptyNote(frame.plot, 'No point lies here. Fit shows all.', theme));
  }
  const shade =
    options.slo_tps_per_user === null ? [] : sloShade(frame, options.slo_tps_per_user, theme);
  const marks = [
    ...frame.under,
    ...shade,
    clipped(frame.plot, [...lines, ...over]),
    ...labelMarks(series, grouped, frame, options),
  ];
  const label = `Throughput against interactivity of ${series.length} systems, step curves`;
  const dotsOf = (one: Series): number[] =>
    (grouped.get(one) ?? []).filter(isStep).flatMap((spot) => placed(spot, frame));
  return {
    scene: { ...size, ground: theme.ground, label, marks },
    frame,
    targets,
    trace: ({ series: one }) => curves.trace(one, dotsOf(one)),
  };
}

const isStep = (spot: Spot): boolean => !isOpenLoop(spot.point);

const placed = (spot: Spot, frame: Frame): [number, number] => [
  frame.x.at(spot.point.tps_per_user as number),
  frame.y.at(spot.value),
];

function liveOf(options: CurveOptions): readonly (LiveSpot & { tps_per_user: number })[] {
  return (options.live ?? []).filter(
    (one): one is LiveSpot & { tps_per_user: number } =>
      one.tps_per_user !== null && one.tps_per_user > 0,
  );
}

function spotsOf(series: readonly Series[]): Spot[] {
  const out: Spot[] = [];
  for (const one of series) {
    one.points.forEach((point, i) => {
      if (point.tps_per_user != null && point.tps_per_user > 0) {
        out.push({ series: one, point, value: one.values[i] as number });
      }
    });
  }
  return out;
}

function frameOf(
  series: readonly Series[],
  spots: readonly Spot[],
  size: Size,
  options: CurveOptions,
): Frame {
  const values = spots.map((spot) => spot.value);
  for (const one of series) if (one.ceiling !== null) values.push(one.ceiling_value);
  const live = liveOf(options);
  for (const one of live) values.push(one.value);
  const [xLow, xHigh] = domainOf(
    [
      ...spots.map((spot) => spot.point.tps_per_user as number),
      ...live.map((one) => one.tps_per_user),
    ],
    options.x,
    options.x === 'linear',
  );
  const [yLow, yHigh] = domainOf(values, options.y, options.y === 'linear');
  const near = options.window ?? NO_WINDOW;
  const [x, y] = isWindow(near)
    ? [
        { low: near.x_from, high: near.x_to },
        { low: near.y_from, high: near.y_to },
      ]
    : [
        { low: xLow, high: xHigh },
        { low: yLow, high: yHigh },
      ];
  return makeFrame(
    size,
    { kind: options.x, ...x, title: `${interactivityUnit(series)} (interactivity)` },
    { kind: options.y, ...y, title: options.y_title },
    options.theme,
  );
}

function addCurve(
  series: Series,
  spots: readonly Spot[],
  frame: Frame,
  options: CurveOptions,
  targets: Target<Spot>[],
  curves: CurveMarks,
): void {
  const dots: number[] = [];
  const loose: number[] = [];
  for (const spot of spots) {
    const [x, y] = placed(spot, frame);
    (isStep(spot) ? dots : loose).push(x, y);
    if (isInside(frame, { x, y })) targets.push({ x, y, datum: spot });
  }
  curves.add(series, dots, loose);
  if (series.look < 0) return;
  const colour = colourOf(options.theme, series.look);
  if (options.smooth) curves.over(smoothMark(dots, colour));
  if (series.ceiling === null) return;
  const y = frame.y.at(series.ceiling_value);
  const { left, width } = frame.plot;
  if (!isInside(frame, { x: left, y })) return;
  const xy = [left, y, left + width, y];
  curves.over({ kind: 'path', xy, stroke: colour, width: 1, dash: [1, 4] });
}

// Names at the curves' ends of highest throughput, and of the ceilings.
function labelMarks(
  series: readonly Series[],
  grouped: ReadonlyMap<Series, readonly Spot[]>,
  frame: Frame,
  options: CurveOptions,
): Mark[] {
  const labels: Label[] = [];
  const ceilings: Label[] = [];
  const dots: number[][] = [];
  for (const one of series) {
    if (one.look < 0) continue;
    const own = grouped.get(one) ?? [];
    dots.push(own.filter(isStep).flatMap((spot) => placed(spot, frame)));
    const end = endOf(own, frame);
    const fill = colourOf(options.theme, one.look);
    if (end !== null && isInside(frame, end))
      labels.push({ text: one.title, fill, bold: true, ...end });
    if (one.ceiling === null) continue;
    const ceiling = { x: frame.plot.left, y: frame.y.at(one.ceiling_value) };
    if (!isInside(frame, ceiling)) continue;
    ceilings.push({
      text: 'Offline: throughput ceiling',
      fill: options.theme.muted,
      bold: false,
      x: frame.plot.left,
      y: frame.y.at(one.ceiling_value),
      line: true,
    });
  }
  const lines = dots.map((one) => staircase(one));
  return placeLabels([...labels, ...ceilings], { dots, lines }, frame.plot, options.theme);
}

function envelopeMarks(spots: readonly Spot[], frame: Frame, theme: Theme): Mark[] {
  const best = envelope(
    spots.filter(isStep).map((s): XY => ({ x: s.point.tps_per_user as number, y: s.value })),
  );
  const xy = staircase(best.flatMap((point) => [frame.x.at(point.x), frame.y.at(point.y)]));
  const first = best[0];
  if (first === undefined) return [];
  return [
    { kind: 'path', xy, stroke: theme.ink, width: 5, opacity: 0.18 },
    {
      kind: 'text',
      x: frame.x.at(first.x) - 4,
      y: frame.y.at(first.y) - 8,
      text: 'envelope',
      fill: theme.muted,
      size: TEXT_SIZE,
      anchor: 'end',
      halo: theme.ground,
    },
  ];
}

function sloShade(frame: Frame, tps: number, theme: Theme): Mark[] {
  const { left, top, width, height } = frame.plot;
  const at = Math.min(left + width, Math.max(left, frame.x.at(tps)));
  return [
    { kind: 'rect', x: left, y: top, w: at - left, h: height, fill: theme.shade, opacity: 0.16 },
    { kind: 'path', xy: [at, top, at, top + height], stroke: theme.ink, width: 1, dash: [5, 3] },
    {
      kind: 'text',
      x: at + 5,
      y: top + 12,
      text: `SLO: ${number3(tps)} tok/s per user`,
      fill: theme.ink,
      size: TEXT_SIZE,
      anchor: 'start',
      halo: theme.ground,
    },
  ];
}

// A monotone cubic through the points, sampled: it never overshoots a measured value.
function smoothMark(dots: readonly number[], stroke: string): Mark {
  const n = dots.length / 2;
  const xs = Array.from({ length: n }, (_, i) => dots[2 * i] as number);
  const ys = Array.from({ length: n }, (_, i) => dots[2 * i + 1] as number);
  const slope = (i: number): number =>
    ((ys[i + 1] as number) - (ys[i] as number)) / ((xs[i + 1] as number) - (xs[i] as number) || 1);
  const tangents = xs.map((_, i) => {
    if (i === 0 || i === n - 1) return n < 2 ? 0 : slope(i === 0 ? 0 : n - 2);
    const [p, q] = [slope(i - 1), slope(i)];
    return p * q <= 0 ? 0 : (2 * p * q) / (p + q);
  });
  const xy: number[] = [];
  for (let i = 0; i + 1 < n; i += 1) {
    const [x0, y0] = [xs[i] as number, ys[i] as number];
    const [dx, y1] = [(xs[i + 1] as number) - x0, ys[i + 1] as number];
    for (let step = 0; step <= 12; step += 1) {
      const t = step / 12;
      xy.push(
        x0 + t * dx,
        (1 + 2 * t) * (1 - t) ** 2 * y0 +
          t * (1 - t) ** 2 * dx * (tangents[i] ?? 0) +
          t * t * (3 - 2 * t) * y1 +
          t * t * (t - 1) * dx * (tangents[i + 1] ?? 0),
      );
    }
  }
  return { kind: 'path', xy, stroke, width: 1.25, dash: [2, 3], opacity: 0.9 };
}

// Where the curve's name goes: at its end of highest throughput.
function endOf(spots: readonly Spot[], frame: Frame): { x: number; y: number } | null {
  let best: Spot | null = null;
  for (const spot of spots) if (best === null || spot.value > best.value) best = spot;
  if (best === null) return null;
  return { x: frame.x.at(best.point.tps_per_user as number), y: frame.y.at(best.value) };
}
