import { describe, expect, it } from 'vitest';
import { LIGHT as theme } from '../base/theme.ts';
import { annotated } from './annotations.ts';
import { makeFrame } from './axes.ts';
import type { Mark } from './scene.ts';

const size = { width: 400, height: 200 };
const axis = { kind: 'linear', low: 0, high: 1, title: '' } as const;
const drawing = {
  scene: { ...size, ground: theme.ground, label: '', marks: [] },
  frame: makeFrame(size, axis, axis, theme),
  targets: [
    { x: 100, y: 90, datum: 'a' },
    { x: 102, y: 91, datum: 'b' },
    { x: 390, y: 2, datum: 'c' },
    { x: 200, y: 90, datum: 'd' },
  ],
};

type Text = Extract<Mark, { kind: 'text' }>;
const textsOf = (words: (datum: string) => string): Text[] =>
  annotated(drawing, words, theme).marks.filter((mark): mark is Text => mark.kind === 'text');

describe('annotations', () => {
  it('leave a picture without words as it is', () => {
    expect(annotated(drawing, () => '', theme)).toBe(drawing.scene);
  });

  it('stand beside their points, inside the picture, and on no other words', () => {
    const texts = textsOf((datum) => (datum === 'd' ? '' : `a note on ${datum}`));
    expect(texts.map((one) => one.text)).toEqual(['a note on a', 'a note on b', 'a note on c']);
    const [a, b, c] = texts as [Text, Text, Text];
    expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(13);
    expect(c.anchor).toBe('end');
    for (const one of texts) {
      expect(one.y).toBeGreaterThan(0);
      expect(one.x).toBeLessThan(size.width);
    }
  });
});
