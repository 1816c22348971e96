// A picture as data: what a chart draws, before anyone has drawn it.
//
// A chart is a pure function from data and options to a Scene. The page paints a scene on a
// canvas (ten thousand points in a few milliseconds), a download writes the same scene as SVG,
// and a test compares it: one picture, three uses. Positions are CSS pixels, y down.

import type { Shape } from '../base/theme.ts';

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly ground: string;
  // What the picture shows, for those who can't see it.
  readonly label: string;
  readonly marks: readonly Mark[];
}

export type Mark = PathMark | AreaMark | SymbolsMark | TextMark | RectMark | ClipMark;

export interface PathMark {
  readonly kind: 'path';
  // x0, y0, x1, y1, …
  readonly xy: readonly number[];
  readonly stroke: string;
  readonly width: number;
  readonly dash?: readonly number[];
  readonly opacity?: number;
}

export interface AreaMark {
  readonly kind: 'area';
  readonly xy: readonly number[];
  readonly fill: string;
  readonly opacity: number;
}

export interface SymbolsMark {
  readonly kind: 'symbols';
  readonly xy: readonly number[];
  readonly shape: Shape;
  readonly size: number;
  readonly fill: string;
  readonly stroke: string;
  readonly opacity?: number;
}

export interface TextMark {
  readonly kind: 'text';
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly fill: string;
  readonly size: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly bold?: boolean;
  // Degrees, counter-clockwise; 90 for a title along the y axis.
  readonly turn?: 90;
  // A halo of the ground's colour, so that a label can be read over lines.
  readonly halo?: string;
}

export interface RectMark {
  readonly kind: 'rect';
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly fill: string;
  readonly opacity?: number;
}

export interface ClipMark {
  readonly kind: 'clip';
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly marks: readonly Mark[];
}

// The same marks at another place, to put a picture into another.
export function movedBy(marks: readonly Mark[], dx: number, dy: number): readonly Mark[] {
  return marks.map((mark): Mark => {
    switch (mark.kind) {
      case 'path':
      case 'area':
      case 'symbols':
        return { ...mark, xy: mark.xy.map((value, i) => value + (i % 2 === 0 ? dx : dy)) };
      case 'clip':
        return { ...mark, x: mark.x + dx, y: mark.y + dy, marks: movedBy(mark.marks, dx, dy) };
      default:
        return { ...mark, x: mark.x + dx, y: mark.y + dy };
    }
  });
}

// A symbol's outline about (0, 0), x and y in turn; empty for the circle.
export function outline(shape: Shape, size: number): readonly number[] {
  const r = size;
  switch (shape) {
    case 'circle':
      return [];
    case 'square':
      return [-r, -r, r, -r, r, r, -r, r].map((v) => v * 0.88);
    case 'triangle':
      return [0, -r * 1.2, r * 1.1, r * 0.8, -r * 1.1, r * 0.8];
    case 'down':
      return [0, r * 1.2, r * 1.1, -r * 0.8, -r * 1.1, -r * 0.8];
    case 'diamond':
      return [0, -r * 1.25, r * 1.25, 0, 0, r * 1.25, -r * 1.25, 0];
    case 'cross': {
      const a = r * 1.2;
      const b = r * 0.4;
      return [-a, -b, -b, -b, -b, -a, b, -a, b, -b, a, -b, a, b, b, b, b, a, -b, a, -b, b, -a, b];
    }
  }
}
