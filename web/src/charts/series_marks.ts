// What the curve charts have in common: drawing order, dashes, what is being measured.

import { type Theme, colourOf, shapeOf } from '../base/theme.ts';
import type { Series } from '../state/curves.ts';
import { type Plot, TEXT_SIZE } from './axes.ts';
import type { Mark } from './scene.ts';

export const DASH_SIMULATED: readonly number[] = [7, 4];

// More grey curves than this are drawn as a density: thin and pale, darker where many lie.
export const CROWD = 40;
const CROWD_OPACITY = 0.09;

// Grey context first, so that the coloured curves lie on top.
export function lookOrder(series: readonly Series[]): readonly Series[] {
  return [...series.filter((one) => one.look < 0), ...series.filter((one) => one.look >= 0)];
}

// The staircase and the dots of each curve. A path a curve: one path of them all would be filled
// as one shape with ten thousand crossings, which takes three times as long.
export class CurveMarks {
  private readonly theme: Theme;
  private readonly width: number;
  private readonly size: number;
  private readonly join: (dots: readonly number[]) => readonly number[];
  private readonly context: Mark[] = [];
  private readonly dots: number[] = [];
  private readonly coloured: Mark[] = [];
  private readonly crowded: boolean;

  constructor(
    theme: Theme,
    width: number,
    size: number,
    all: readonly Series[],
    join: 'steps' | 'straight' = 'steps',
  ) {
    this.join = join === 'steps' ? staircase : (dots): readonly number[] => dots;
    this.crowded = all.filter((one) => one.look < 0).length > CROWD;
    this.theme = theme;
    this.width = width;
    this.size = size;
  }

  // `dots`: x and y of each point in turn, by concurrency; `loose`: of points that are on no curve.
  add(series: Series, dots: readonly number[], loose: readonly number[] = []): void {
    const { theme } = this;
    const simulated = series.curve.kind === 'simulated';
    if (series.look < 0) {
      this.context.push({
        kind: 'path',
        xy: this.join(dots),
        ...(this.crowded
          ? { stroke: theme.muted, width: 1, opacity: CROWD_OPACITY }
          : { stroke: theme.context, width: 1, opacity: 0.55 }),
        ...(simulated && !this.crowded ? { dash: DASH_SIMULATED } : {}),
      });
      if (!this.crowded) for (const value of [...dots, ...loose]) this.dots.push(value);
      return;
    }
    const colour = colourOf(theme, series.look);
    this.coloured.push({
      kind: 'path',
      xy: this.join(dots),
      stroke: colour,
      width: this.width,
      ...(simulated ? { dash: DASH_SIMULATED } : {}),
    });
    this.coloured.push({
      kind: 'symbols',
      xy: dots,
      shape: shapeOf(series.look),
      size: this.size,
      fill: simulated ? theme.ground : colour,
      stroke: simulated ? colour : theme.ground,
    });
    if (loose.length === 0) return;
    // Open loop: hollow, on no line.
    this.coloured.push({
      kind: 'symbols',
      xy: loose,
      shape: 'diamond',
      size: this.size + 1,
      fill: theme.ground,
      stroke: colour,
    });
  }

  // The whole curve of a system, while one of its points is under the pointer or the keys.
  trace(series: Series, dots: readonly number[]): readonly Mark[] {
    const { theme } = this;
    const stroke = series.look < 0 ? theme.ink : colourOf(theme, series.look);
    const xy = this.join(dots);
    return [
      { kind: 'path', xy, stroke: theme.ground, width: this.width + 3.5, opacity: 0.85 },
      { kind: 'path', xy, stroke, width: this.width + 0.75 },
      {
        kind: 'symbols',
        xy: dots,
        shape: shapeOf(Math.max(0, series.look)),
        size: this.size,
        fill: stroke,
        stroke: theme.ground,
      },
    ];
  }

  over(mark: Mark): void {
    this.coloured.push(mark);
  }

  marks(): readonly Mark[] {
    const out = [...this.context];
    if (this.dots.length > 0) {
      out.push({
        kind: 'symbols',
        xy: this.dots,
        shape: 'circle',
        size: 1.5,
        fill: this.theme.context,
        stroke: 'none',
        opacity: 0.8,
      });
    }
    return [...out, ...this.coloured];
  }
}

// Holds a value until the next point: across, then up or down.
export function staircase(dots: readonly number[]): number[] {
  const xy: number[] = [];
  for (let i = 0; i + 1 < dots.length; i += 2) {
    const x = dots[i] as number;
    if (i > 0) xy.push(x, xy[xy.length - 1] as number);
    xy.push(x, dots[i + 1] as number);
  }
  return xy;
}

// What is being measured now: a ring that is not filled, dotted, with its word. It is where the
// point would be if the run ended here.
export function liveMarks(
  at: { readonly x: number; readonly y: number },
  name: string,
  look: number,
  plot: Plot,
  theme: Theme,
): Mark[] {
  const colour = look < 0 ? theme.ink : colourOf(theme, look);
  const ring: number[] = [];
  for (let i = 0; i <= 24; i += 1) {
    const angle = (i / 24) * 2 * Math.PI;
    ring.push(at.x + 8 * Math.cos(angle), at.y + 8 * Math.sin(angle));
  }
  const right = at.x + 14 + name.length * 6.3 <= plot.left + plot.width;
  return [
    { kind: 'path', xy: ring, stroke: colour, width: 2, dash: [2, 3] },
    {
      kind: 'symbols',
      xy: [at.x, at.y],
      shape: 'circle',
      size: 2.5,
      fill: colour,
      stroke: 'none',
    },
    {
      kind: 'text',
      x: right ? at.x + 13 : at.x - 13,
      y: at.y + 4,
      text: name,
      fill: colour,
      size: TEXT_SIZE,
      anchor: right ? 'start' : 'end',
      halo: theme.ground,
    },
  ];
}
