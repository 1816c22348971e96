// Where the names of curves go: beside the thing that they name, on no other name, and on as few
// lines and marks as can be. One that finds no good place is left out, for legend and table say it
// as well.

import type { Theme } from '../base/theme.ts';
import { type Plot, TEXT_SIZE } from './axes.ts';
import type { Mark } from './scene.ts';

export interface Label {
  readonly text: string;
  readonly fill: string;
  readonly bold: boolean;
  // What it names; `far` candidates along a line are tried where it names a line.
  readonly x: number;
  readonly y: number;
  readonly line?: boolean;
}

// What names should not lie on: x and y of each dot in turn, and of each line's corners.
export interface Obstacles {
  readonly dots: readonly (readonly number[])[];
  readonly lines: readonly (readonly number[])[];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
}

const HEIGHT = 13;
const TEXT_MAX = 28;
// Narrower than this the names would cover the curves.
const PLOT_WIDTH_MIN = 300;
const PENALTY_MAX = 6;

export function placeLabels(
  labels: readonly Label[],
  obstacles: Obstacles,
  plot: Plot,
  theme: Theme,
): Mark[] {
  if (plot.width < PLOT_WIDTH_MIN) return [];
  const placed: Box[] = [];
  const marks: Mark[] = [];
  const names = labels.filter((one) => one.bold).map((one) => one.text);
  for (const label of labels) {
    const text = shortened(label.text, names, TEXT_MAX);
    const w = text.length * (label.bold ? 7.2 : 6.4);
    const box = best(label, w, obstacles, plot, placed);
    if (box === null) continue;
    placed.push(box);
    marks.push({
      kind: 'text',
      x: box.x,
      y: box.y,
      text,
      fill: label.fill,
      size: TEXT_SIZE,
      anchor: 'start',
      bold: label.bold,
      halo: theme.ground,
    });
  }
  return marks;
}

// A name that fits: without the words that all names have, then without those that are not needed
// to tell it from the others, those that most names have and those at its end first; what is still
// too long is cut at its end.
export function shortened(text: string, names: readonly string[], most: number): string {
  if (text.length <= most) return text;
  const others = names.filter((name) => name !== text).map((name) => wordsOf(name));
  const told = (words: readonly string[]): boolean =>
    words.length > 0 && others.every((other) => !words.every((word) => other.includes(word)));
  let words = wordsOf(text);
  const own = words.filter((word) => !others.every((other) => other.includes(word)));
  if (others.length > 0 && told(own)) words = own;
  const shared = (word: string): number => others.filter((other) => other.includes(word)).length;
  for (const word of [...words].reverse().sort((a, b) => shared(b) - shared(a))) {
    if (words.join(' ').length <= most) break;
    const left = words.filter((one) => one !== word);
    if (others.length > 0 && told(left)) words = left;
  }
  const short = words.join(' ');
  return short.length > most ? `${short.slice(0, most - 1)}…` : short;
}

const wordsOf = (name: string): readonly string[] =>
  name.split(/[\s,;·]+/).filter((word) => word !== '');

function best(
  label: Label,
  w: number,
  obstacles: Obstacles,
  plot: Plot,
  placed: readonly Box[],
): Box | null {
  let found: Box | null = null;
  let least = PENALTY_MAX;
  for (const box of places(label, w, plot)) {
    const inside =
      box.x >= plot.left + 2 &&
      box.x + w <= plot.left + plot.width &&
      box.y >= plot.top + 8 &&
      box.y <= plot.top + plot.height - 4;
    if (!inside || placed.some((other) => overlaps(box, other))) continue;
    const penalty = penaltyOf(box, obstacles);
    if (penalty < least) {
      least = penalty;
      found = box;
    }
  }
  return found;
}

function places(label: Label, w: number, plot: Plot): readonly Box[] {
  const { x, y } = label;
  if (label.line === true) {
    const right = plot.left + plot.width - w - 4;
    return [right, plot.left + 6, plot.left + plot.width * 0.3, plot.left + plot.width * 0.6].map(
      (at) => ({ x: at, y: y - 4, w }),
    );
  }
  return (
    [
      [-w - 10, 4],
      [9, -8],
      [-w / 2, -10],
      [9, 4],
      [-w - 6, -9],
      [9, 18],
      [-w / 2, 20],
      [-w / 2, -24],
      [-w - 6, 18],
      [9, -24],
    ] as const
  ).map(([dx, dy]) => ({ x: x + dx, y: y + dy, w }));
}

function overlaps(a: Box, b: Box): boolean {
  return Math.abs(a.y - b.y) <= HEIGHT && a.x <= b.x + b.w + 4 && b.x <= a.x + a.w + 4;
}

// A mark under a name hides more than a line does.
function penaltyOf(box: Box, obstacles: Obstacles): number {
  const [left, right, top, bottom] = [box.x - 2, box.x + box.w + 2, box.y - 10, box.y + 3];
  let penalty = 0;
  for (const dots of obstacles.dots) {
    for (let i = 0; i + 1 < dots.length; i += 2) {
      const [x, y] = [dots[i] as number, dots[i + 1] as number];
      if (x > left - 3 && x < right + 3 && y > top - 3 && y < bottom + 3) penalty += 2;
    }
  }
  for (const xy of obstacles.lines) {
    for (let i = 2; i + 1 < xy.length; i += 2) {
      const [x0, y0, x1, y1] = [xy[i - 2], xy[i - 1], xy[i], xy[i + 1]] as number[] as [
        number,
        number,
        number,
        number,
      ];
      if (
        Math.max(x0, x1) > left &&
        Math.min(x0, x1) < right &&
        Math.max(y0, y1) > top &&
        Math.min(y0, y1) < bottom
      ) {
        penalty += 1;
      }
    }
  }
  return penalty;
}
