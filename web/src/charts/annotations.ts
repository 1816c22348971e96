// Words that a reader puts to a point: a ring about the point, a line, and the words, on any chart
// that shows it.

import type { Theme } from '../base/theme.ts';
import { type Drawing, type Target, TEXT_SIZE } from './axes.ts';
import type { Mark, Scene } from './scene.ts';

const LINE = 15;
const AWAY = 16;
const RING = 7.5;

interface Row {
  readonly from: number;
  readonly to: number;
  readonly y: number;
}

// The scene with the words of each target that has some. Words that would lie on others go lower.
export function annotated<T>(
  drawing: Drawing<T>,
  words: (datum: T) => string,
  theme: Theme,
): Scene {
  const { scene, targets } = drawing;
  const rows: Row[] = [];
  const marks = targets.flatMap((target) => {
    const text = words(target.datum);
    return text === '' ? [] : marksOf(target, text, scene, rows, theme);
  });
  return marks.length === 0 ? scene : { ...scene, marks: [...scene.marks, ...marks] };
}

function marksOf<T>(
  { x, y }: Target<T>,
  text: string,
  scene: Scene,
  rows: Row[],
  theme: Theme,
): Mark[] {
  const width = text.length * 7;
  const right = x + AWAY + width < scene.width;
  const at = right ? x + AWAY : x - AWAY;
  const [from, to] = right ? [at, at + width] : [at - width, at];
  // Up where there is room, so that the words do not lie on what the curve does next.
  let line = y - AWAY < TEXT_SIZE ? y + AWAY : y - AWAY;
  while (rows.some((one) => one.from < to && from < one.to && Math.abs(one.y - line) < LINE)) {
    line += LINE;
  }
  rows.push({ from, to, y: line });
  return [
    { kind: 'path', xy: ringAt(x, y), stroke: theme.ink, width: 1.5 },
    { kind: 'path', xy: [x, y, at, line], stroke: theme.ink, width: 1 },
    {
      kind: 'text',
      x: at + (right ? 2 : -2),
      y: line + 4,
      text,
      fill: theme.ink,
      size: TEXT_SIZE,
      anchor: right ? 'start' : 'end',
      bold: true,
      halo: theme.ground,
    },
  ];
}

const ringAt = (x: number, y: number): number[] =>
  Array.from({ length: 25 }, (_, i) => (i * Math.PI) / 12).flatMap((turn) => [
    x + RING * Math.cos(turn),
    y + RING * Math.sin(turn),
  ]);
