// Any figure of the points against any other. Thin straight lines join a system's points by
// concurrency, so that they can be followed; nothing between two points was measured. The corner
// where both figures are better says so.

import { type Theme, colourOf } from '../base/theme.ts';
import type { Series } from '../state/curves.ts';
import { type Figure, axisTitle } from '../state/figures.ts';
import type { Selection } from '../state/selection.ts';
import {
  type Drawing,
  type Frame,
  type Size,
  type Target,
  TEXT_SIZE,
  clipped,
  emptyNote,
  makeFrame,
} from './axes.ts';
import type { Spot } from './curve_chart.ts';
import { type Label, placeLabels } from './labels.ts';
import { type ScaleKind, domainOf } from './scale.ts';
import type { Mark } from './scene.ts';
import { CurveMarks, lookOrder } from './series_marks.ts';
import { type Window, isInside, isWindow } from './window.ts';

export interface FigureOptions {
  readonly x: Figure;
  readonly y: Figure;
  readonly x_kind: ScaleKind;
  readonly y_kind: ScaleKind;
  readonly selection: Selection;
  readonly window: Window;
  readonly theme: Theme;
}

interface Placed {
  readonly spot: Spot;
  readonly x: number;
  readonly y: number;
}

export function figureChart(
  series: readonly Series[],
  size: Size,
  options: FigureOptions,
): Drawing<Spot> {
  const { theme } = options;
  const placed = new Map(series.map((one) => [one, placedOf(one, options)]));
  const all = [...placed.values()].flat();
  const frame = frameOf(all, size, options);
  const targets: Target<Spot>[] = [];
  const curves = new CurveMarks(theme, 1.25, 3.6, series, 'straight');
  const traced = new Map<Series, readonly number[]>();
  const labels: Label[] = [];
  const coloured: number[][] = [];
  for (const one of lookOrder(series)) {
    const dots: number[] = [];
    for (const { spot, x, y } of placed.get(one) ?? []) {
      const at = { x: frame.x.at(x), y: frame.y.at(y) };
      dots.push(at.x, at.y);
      if (isInside(frame, at)) targets.push({ ...at, datum: spot });
    }
    curves.add(one, dots);
    traced.set(one, dots);
    if (one.look < 0) continue;
    coloured.push(dots);
    const end = { x: dots[dots.length - 2] ?? NaN, y: dots[dots.length - 1] ?? NaN };
    const fill = colourOf(theme, one.look);
    if (isInside(frame, end)) {
      labels.push({ text: one.title, fill, bold: true, ...end });
    }
  }
  const lines = [...curves.marks()];
  if (all.length === 0) {
    lines.push(emptyNote(frame.plot, 'No point shown has both figures.', theme));
  } else if (targets.length === 0) {
    lines.push(emptyNote(frame.plot, 'No point lies here. Fit shows all.', theme));
  }
  const marks = [
    ...frame.under,
    clipped(frame.plot, lines),
    ...betterMark(frame, options),
    ...placeLabels(labels, { dots: coloured, lines: coloured }, frame.plot, theme),
  ];
  const label = `${options.y.title} against ${options.x.title} of ${series.length} systems`;
  return {
    scene: { ...size, ground: theme.ground, label, marks },
    frame,
    targets,
    trace: ({ series: one }) => curves.trace(one, traced.get(one) ?? []),
  };
}

function placedOf(series: Series, options: FigureOptions): Placed[] {
  const out: Placed[] = [];
  series.points.forEach((point, i) => {
    const x = options.x.of(point, series.curve, options.selection);
    const y = options.y.of(point, series.curve, options.selection);
    if (x === null || y === null || !Number.isFinite(x) || !Number.isFinite(y)) return;
    if ((options.x_kind === 'log' && x <= 0) || (options.y_kind === 'log' && y <= 0)) return;
    out.push({ spot: { series, point, value: series.values[i] as number }, x, y });
  });
  return out.sort((p, q) => p.spot.point.concurrency - q.spot.point.concurrency);
}

function frameOf(all: readonly Placed[], size: Size, options: FigureOptions): Frame {
  const { window, x, y, x_kind, y_kind } = options;
  const zoomed = isWindow(window);
  const [xLow, xHigh] = zoomed
    ? [window.x_from, window.x_to]
    : domainOf(
        all.map((one) => one.x),
        x_kind,
        x_kind === 'linear',
      );
  const [yLow, yHigh] = zoomed
    ? [window.y_from, window.y_to]
    : domainOf(
        all.map((one) => one.y),
        y_kind,
        y_kind === 'linear',
      );
  const { per } = options.selection;
  return makeFrame(
    size,
    { kind: x_kind, low: xLow, high: xHigh, title: axisTitle(x, per), text: x.text },
    { kind: y_kind, low: yLow, high: yHigh, title: axisTitle(y, per), text: y.text },
    options.theme,
  );
}

function betterMark(frame: Frame, { x, y, theme }: FigureOptions): Mark[] {
  if (x.better === null || y.better === null) return [];
  const { left, top, width, height } = frame.plot;
  const right = x.better === 'higher';
  return [
    {
      kind: 'text',
      x: right ? left + width - 6 : left + 6,
      y: y.better === 'higher' ? top + 14 : top + height - 8,
      text: 'better',
      fill: theme.muted,
      size: TEXT_SIZE,
      anchor: right ? 'end' : 'start',
      bold: true,
      halo: theme.ground,
    },
  ];
}
