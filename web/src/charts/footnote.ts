// A picture that leaves the page takes along what it shows and what it is not.

import { TEXT_SIZE } from './axes.ts';
import { type Mark, type Scene, movedBy } from './scene.ts';
import type { Theme } from '../base/theme.ts';

const EDGE = 14;
const LINE = 16;

// Breaks words to lines that fit, by the width of the page's type.
export function wrapped(text: string, width: number): readonly string[] {
  const room = Math.max(10, Math.floor(width / 6.1));
  const out: string[] = [];
  for (const word of text.split(' ')) {
    const last = out[out.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= room) {
      out[out.length - 1] = `${last} ${word}`;
    } else {
      out.push(word);
    }
  }
  return out;
}

export function withFootnote(
  scene: Scene,
  title: string,
  notes: readonly string[],
  theme: Theme,
): Scene {
  const width = scene.width - 2 * EDGE;
  const lines = notes.flatMap((note) => wrapped(note, width));
  const text = (y: number, said: string, bold: boolean): Mark => ({
    kind: 'text',
    x: EDGE,
    y,
    text: said,
    fill: bold ? theme.ink : theme.muted,
    size: bold ? 15 : TEXT_SIZE,
    anchor: 'start',
    ...(bold ? { bold } : {}),
  });
  const head = 30;
  const foot = head + scene.height + LINE;
  return {
    ...scene,
    height: foot + lines.length * LINE,
    label: `${scene.label}. ${notes.join(' ')}`,
    marks: [
      text(20, title, true),
      ...movedBy(scene.marks, 0, head),
      ...lines.map((line, i) => text(foot + i * LINE, line, false)),
    ],
  };
}
