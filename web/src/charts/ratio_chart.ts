// How many times the throughput of A system B has, at equal interactivity.

import { number3 } from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import type { AtInteractivity } from '../state/compare.ts';
import { type Drawing, type Size, type Target, clipped, emptyNote, makeFrame } from './axes.ts';
import { domainOf } from './scale.ts';
import type { Mark } from './scene.ts';

export function ratioChart(
  rows: readonly AtInteractivity[],
  size: Size,
  theme: Theme,
  empty: string,
): Drawing<AtInteractivity> {
  const known = rows.filter((row) => row.ratio !== null && row.ratio > 0);
  const [xLow, xHigh] = domainOf(
    known.map((row) => row.tps_per_user),
    'log',
    false,
  );
  const [low, high] = domainOf([...known.map((row) => row.ratio as number), 1], 'log', false);
  const frame = makeFrame(
    size,
    { kind: 'log', low: xLow, high: xHigh, title: 'tok/s per user' },
    { kind: 'log', low, high, title: 'B ÷ A', text: (value) => `${number3(value)} ×` },
    theme,
  );
  const targets: Target<AtInteractivity>[] = [];
  const xy: number[] = [];
  const dots: number[] = [];
  for (const row of [...known].reverse()) {
    const x = frame.x.at(row.tps_per_user);
    const y = frame.y.at(row.ratio as number);
    if (xy.length > 0) xy.push(x, xy[xy.length - 1] as number);
    xy.push(x, y);
    dots.push(x, y);
    targets.push({ x, y, datum: row });
  }
  const one = frame.y.at(1);
  const { left, width } = frame.plot;
  const marks: Mark[] = [
    { kind: 'path', xy: [left, one, left + width, one], stroke: theme.ink, width: 1, dash: [5, 3] },
    { kind: 'path', xy, stroke: theme.series[0] ?? theme.ink, width: 2 },
    {
      kind: 'symbols',
      xy: dots,
      shape: 'circle',
      size: 3.5,
      fill: theme.series[0] ?? theme.ink,
      stroke: theme.ground,
    },
  ];
  if (known.length === 0) {
    marks.splice(0, marks.length, emptyNote(frame.plot, empty, theme));
  }
  return {
    scene: {
      ...size,
      ground: theme.ground,
      label: 'Throughput of B over A at equal interactivity',
      marks: [...frame.under, clipped(frame.plot, marks)],
    },
    frame,
    targets,
  };
}
