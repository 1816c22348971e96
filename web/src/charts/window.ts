// The part of a chart that is looked at: ranges of both axes. Zooming keeps what lies under the
// pointer where it is, on linear and on logarithmic axes; values never go below 0.

import type { Frame } from './axes.ts';
import type { Scale } from './scale.ts';

export interface Window {
  readonly x_from: number;
  readonly x_to: number;
  readonly y_from: number;
  readonly y_to: number;
}

export const NO_WINDOW: Window = { x_from: 0, x_to: 0, y_from: 0, y_to: 0 };

export function isWindow(window: Window): boolean {
  return window.x_to > window.x_from && window.y_to > window.y_from;
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function windowAt(frame: Frame, left: number, right: number, top: number, low: number): Window {
  // A time has more digits before its smallest part than other figures.
  const kept = (scale: Scale, at: number): number =>
    Math.max(0, Number(scale.invert(at).toPrecision(scale.kind === 'time' ? 10 : 6)));
  return {
    x_from: kept(frame.x, left),
    x_to: kept(frame.x, right),
    y_from: kept(frame.y, low),
    y_to: kept(frame.y, top),
  };
}

export function centreOf(frame: Frame): Spot {
  const { left, top, width, height } = frame.plot;
  return { x: left + width / 2, y: top + height / 2 };
}

// `factor` below 1 looks closer.
export function zoomedWindow(frame: Frame, at: Spot, factor: number): Window {
  const { left, top, width, height } = frame.plot;
  const x = (edge: number): number => at.x + (edge - at.x) * factor;
  const y = (edge: number): number => at.y + (edge - at.y) * factor;
  return windowAt(frame, x(left), x(left + width), y(top), y(top + height));
}

// By pixels: what lay at (0, 0) lies at (dx, dy) after.
export function pannedWindow(frame: Frame, dx: number, dy: number): Window {
  const { left, top, width, height } = frame.plot;
  return windowAt(frame, left - dx, left + width - dx, top - dy, top + height - dy);
}

export function isInside(frame: Frame, at: Spot): boolean {
  const { left, top, width, height } = frame.plot;
  return (
    at.x >= left - 1 && at.x <= left + width + 1 && at.y >= top - 1 && at.y <= top + height + 1
  );
}
