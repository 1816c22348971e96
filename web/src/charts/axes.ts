// The frame of a chart: where the plot is, its grid, ticks and titles.

import { number3, short } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { type Scale, type ScaleKind, makeScale } from './scale.ts';
import type { Mark, Scene } from './scene.ts';

export interface AxisSpec {
  readonly kind: ScaleKind;
  readonly low: number;
  readonly high: number;
  readonly title: string;
  // How a tick is written; default: three significant digits, k and M for large ones.
  readonly text?: (value: number) => string;
}

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Frame {
  readonly plot: Plot;
  readonly x: Scale;
  readonly y: Scale;
  readonly under: readonly Mark[];
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

// A target of the pointer and of the arrow keys: a datum where it is drawn.
export interface Target<T> {
  readonly x: number;
  readonly y: number;
  readonly datum: T;
}

export interface Drawing<T> {
  readonly scene: Scene;
  readonly frame: Frame;
  readonly targets: readonly Target<T>[];
  // What is drawn over the picture while a datum is under the pointer or the keys: the whole curve
  // that it lies on.
  readonly trace?: (datum: T) => readonly Mark[];
  // Of a picture of several plots: the one in which a datum lies.
  readonly plotOf?: (datum: T) => Plot;
}

export const TEXT_SIZE = 11.5;

export function makeFrame(size: Size, x: AxisSpec, y: AxisSpec, theme: Theme): Frame {
  const yText = y.text ?? short;
  const top = 14;
  const bottom = 38;
  const height = Math.max(40, size.height - top - bottom);
  const yTicksWanted = Math.max(2, Math.floor(height / 46));
  const probe = makeScale(y.kind, y.low, y.high, height, 0).ticks(yTicksWanted).map(yText);
  const widest = probe.reduce((most, text) => Math.max(most, text.length), 1);
  const left = 30 + widest * 6.4;
  const plot = { left, top, width: Math.max(60, size.width - left - 16), height };
  const xScale = makeScale(x.kind, x.low, x.high, plot.left, plot.left + plot.width);
  const yScale = makeScale(y.kind, y.low, y.high, plot.top + plot.height, plot.top);
  const under = [...xAxis(plot, xScale, x, theme), ...yAxis(plot, yScale, y, yText, theme)];
  return { plot, x: xScale, y: yScale, under };
}

function xAxis(plot: Plot, scale: Scale, axis: AxisSpec, theme: Theme): Mark[] {
  const marks: Mark[] = [];
  const text = axis.text ?? ((v: number): string => (v >= 1e4 ? short(v) : number3(v)));
  const base = plot.top + plot.height;
  let taken = -Infinity;
  for (const tick of scale.ticks(Math.max(2, Math.floor(plot.width / 62)))) {
    const at = scale.at(tick);
    marks.push({ kind: 'path', xy: [at, plot.top, at, base], stroke: theme.grid, width: 1 });
    const label = text(tick);
    const half = label.length * 3.4;
    if (at - half < taken || at + half > plot.left + plot.width + 14) continue;
    taken = at + half + 6;
    marks.push({
      kind: 'text',
      x: at,
      y: base + 16,
      text: label,
      fill: theme.muted,
      size: TEXT_SIZE,
      anchor: 'middle',
    });
  }
  marks.push({
    kind: 'path',
    xy: [plot.left, base, plot.left + plot.width, base],
    stroke: theme.muted,
    width: 1,
  });
  marks.push({
    kind: 'text',
    x: plot.left + plot.width,
    y: base + 32,
    text: `${axis.title} →`,
    fill: theme.ink,
    size: TEXT_SIZE,
    anchor: 'end',
  });
  return marks;
}

function yAxis(
  plot: Plot,
  scale: Scale,
  axis: AxisSpec,
  text: (value: number) => string,
  theme: Theme,
): Mark[] {
  const marks: Mark[] = [];
  for (const tick of scale.ticks(Math.max(2, Math.floor(plot.height / 46)))) {
    const at = scale.at(tick);
    marks.push({
      kind: 'path',
      xy: [plot.left, at, plot.left + plot.width, at],
      stroke: theme.grid,
      width: 1,
    });
    marks.push({
      kind: 'text',
      x: plot.left - 6,
      y: at + 4,
      text: text(tick),
      fill: theme.muted,
      size: TEXT_SIZE,
      anchor: 'end',
    });
  }
  marks.push({
    kind: 'text',
    x: 13,
    y: plot.top + plot.height / 2,
    text: axis.title,
    fill: theme.ink,
    size: TEXT_SIZE,
    anchor: 'middle',
    turn: 90,
  });
  return marks;
}

export function clipped(plot: Plot, marks: readonly Mark[]): Mark {
  return {
    kind: 'clip',
    x: plot.left - 8,
    y: plot.top - 8,
    w: plot.width + 16,
    h: plot.height + 16,
    marks,
  };
}

// What a chart says when it has nothing to show.
export function emptyNote(plot: Plot, text: string, theme: Theme): Mark {
  return {
    kind: 'text',
    x: plot.left + plot.width / 2,
    y: plot.top + plot.height / 2,
    text,
    fill: theme.muted,
    size: 13,
    anchor: 'middle',
  };
}
