// A figure by date: how a model, or the systems of an organisation, came along. Each system is one
// mark, its best point of those shown (a system alone that was measured again: each of its runs);
// the broad line is the best until then over all of them, thin ones are of each organisation (of
// each system where nobody names one).

import { number3 } from '../base/format.ts';
import { type Theme, colourOf, shapeOf } from '../base/theme.ts';
import type { Series } from '../state/curves.ts';
import { type Figure, axisTitle } from '../state/figures.ts';
import {
  type Drawing,
  type Frame,
  type Plot,
  type Size,
  type Target,
  clipped,
  emptyNote,
  makeFrame,
} from './axes.ts';
import type { Spot } from './curve_chart.ts';
import type { FigureOptions } from './figure_chart.ts';
import { type Label, placeLabels } from './labels.ts';
import { DAY, domainOf } from './scale.ts';
import type { Mark } from './scene.ts';
import { lookOrder, staircase } from './series_marks.ts';
import { isInside, isWindow } from './window.ts';

export interface Entry {
  readonly spot: Spot;
  readonly x: number;
  readonly y: number;
}

// The point that stands for a system. One that has Offline runs alone is shown by them.
export function entryOf(
  series: Series,
  options: Pick<FigureOptions, 'x' | 'y' | 'y_kind' | 'selection'>,
): Entry | null {
  const { x, y, selection } = options;
  const ceiling =
    series.points.length === 0 && series.ceiling !== null && y.divided
      ? [{ point: series.ceiling, value: series.ceiling_value }]
      : series.points.map((point, i) => ({ point, value: series.values[i] as number }));
  let best: Entry | null = null;
  for (const { point, value } of ceiling) {
    const [at, figure] = [
      x.of(point, series.curve, selection),
      y.of(point, series.curve, selection),
    ];
    if (at === null || figure === null || !Number.isFinite(figure)) continue;
    if (options.y_kind === 'log' && figure <= 0) continue;
    if (best !== null && !beats(figure, best.y, y)) continue;
    best = { spot: { series, point, value }, x: at, y: figure };
  }
  return best;
}

// Of one system alone that was measured again at a concurrency, each run is a mark.
export function isOfRuns(series: readonly Series[], x: Figure): boolean {
  const [only, ...others] = series;
  if (only === undefined || others.length > 0 || x.id !== 'measured') return false;
  return new Set(only.points.map((point) => point.concurrency)).size < only.points.length;
}

export function entriesOf(
  series: readonly Series[],
  options: Pick<FigureOptions, 'x' | 'y' | 'y_kind' | 'selection'>,
): readonly Entry[] {
  const [only] = series;
  if (only === undefined || !isOfRuns(series, options.x)) {
    return lookOrder(series).flatMap((one) => entryOf(one, options) ?? []);
  }
  return only.points.flatMap((point, i) => {
    const entry = entryOf({ ...only, points: [point], values: only.values.slice(i) }, options);
    return entry === null ? [] : [{ ...entry, spot: { ...entry.spot, series: only } }];
  });
}

// Without a better direction the last point stands for a system, and there is no record.
const beats = (value: number, best: number, { better }: Figure): boolean =>
  better === null || (better === 'higher' ? value > best : value < best);

// Those that were better than all before them, by date.
export function recordOf(entries: readonly Entry[], figure: Figure): readonly Entry[] {
  if (figure.better === null) return [];
  const out: Entry[] = [];
  const rank = figure.better === 'higher' ? -1 : 1;
  for (const one of [...entries].sort((p, q) => p.x - q.x || rank * (p.y - q.y))) {
    const last = out[out.length - 1];
    if (last === undefined || beats(one.y, last.y, figure)) out.push(one);
  }
  return out;
}

const groupOf = ({ spot: { series } }: Entry): string =>
  series.curve.organisation || series.curve.system_name;

export function historyChart(
  series: readonly Series[],
  size: Size,
  options: FigureOptions,
): Drawing<Spot> {
  const { theme, y } = options;
  const entries = entriesOf(series, options);
  const runs = isOfRuns(series, options.x);
  const differ = new Set(entries.map(({ spot }) => spot.point.concurrency)).size > 1;
  const frame = frameOf(entries, size, options);
  const groups = new Map<string, Entry[]>();
  for (const one of entries) groups.set(groupOf(one), [...(groups.get(groupOf(one)) ?? []), one]);
  const lineOf = (of: readonly Entry[], style: Partial<Mark>): Mark =>
    ({ kind: 'path', xy: recordLine(recordOf(of, y), frame), ...style }) as Mark;
  const lines: Mark[] = [];
  if (groups.size > 1) {
    lines.push(lineOf(entries, { stroke: theme.muted, width: 5, opacity: 0.3 }));
  }
  for (const of of groups.values()) {
    if (of.length > 1 || groups.size === 1) {
      lines.push(lineOf(of, { stroke: theme.muted, width: 1.2, opacity: 0.8 }));
    }
  }
  const targets: Target<Spot>[] = [];
  const labels: Label[] = [];
  for (const { spot, x, y: value } of entries) {
    const at = { x: frame.x.at(x), y: frame.y.at(value) };
    if (isInside(frame, at)) targets.push({ ...at, datum: spot });
    lines.push(dot(spot.series, at, theme));
    if (spot.series.look < 0 || !isInside(frame, at)) continue;
    const fill = colourOf(theme, spot.series.look);
    if (runs && !differ) continue;
    const text = runs
      ? `concurrency ${number3(spot.point.concurrency)}`
      : spot.series.curve.system_name;
    labels.push({ text, fill, bold: true, ...at });
  }
  if (entries.length === 0) {
    const what = `${options.x.title.toLowerCase()} and this figure`;
    lines.push(emptyNote(frame.plot, `No system shown has a ${what}.`, theme));
  }
  const dots = targets.map((one) => [one.x, one.y]);
  const marks = [
    ...frame.under,
    clipped(frame.plot, lines),
    ...placeLabels(labels, { dots, lines: [] }, frame.plot, theme),
  ];
  const what = runs ? 'runs' : 'systems';
  const label = `${y.title} by ${options.x.title.toLowerCase()} of ${entries.length} ${what}`;
  return {
    scene: { ...size, ground: theme.ground, label, marks },
    frame,
    // By date, so that the arrow keys walk through time.
    targets: targets.sort((p, q) => p.x - q.x),
    trace: ({ series: one }) => {
      const own = entries.find((entry) => entry.spot.series === one);
      const all = own === undefined ? [] : (groups.get(groupOf(own)) ?? []);
      return [lineOf(all, { stroke: theme.ink, width: 2 })];
    },
  };
}

// A record holds until the next one, and to the chart's edge.
function recordLine(record: readonly Entry[], frame: Frame): readonly number[] {
  const xy = staircase(record.flatMap((one) => [frame.x.at(one.x), frame.y.at(one.y)]));
  const last = xy[xy.length - 1];
  return last === undefined ? [] : [...xy, rightOf(frame.plot), last];
}

const rightOf = (plot: Plot): number => plot.left + plot.width;

function dot(series: Series, at: { readonly x: number; readonly y: number }, theme: Theme): Mark {
  const grey = series.look < 0;
  const colour = grey ? theme.context : colourOf(theme, series.look);
  const simulated = series.curve.kind === 'simulated';
  return {
    kind: 'symbols',
    xy: [at.x, at.y],
    shape: grey ? 'circle' : shapeOf(series.look),
    size: grey ? 2.5 : 4.5,
    fill: simulated ? theme.ground : colour,
    stroke: simulated ? colour : theme.ground,
  };
}

function frameOf(entries: readonly Entry[], size: Size, options: FigureOptions): Frame {
  const { window, x, y, y_kind, selection } = options;
  const dates = entries.map((one) => one.x);
  const [first, last] = [Math.min(...dates), Math.max(...dates)];
  const margin = Math.max(last - first, DAY) * 0.08;
  const [low, high] = domainOf(
    entries.map((one) => one.y),
    y_kind,
    y_kind === 'linear',
  );
  const zoomed = isWindow(window);
  const [from, to] = dates.length === 0 ? [0, DAY] : [first - margin, last + 2 * margin];
  return makeFrame(
    size,
    {
      kind: 'time',
      low: zoomed ? window.x_from : from,
      high: zoomed ? window.x_to : to,
      title: axisTitle(x, selection.per),
      text: x.text,
    },
    {
      kind: y_kind,
      low: zoomed ? window.y_from : low,
      high: zoomed ? window.y_to : high,
      title: axisTitle(y, selection.per),
      text: y.text,
    },
    options.theme,
  );
}
