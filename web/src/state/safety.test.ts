import { describe, expect, it } from 'vitest';
import type { Point } from '../api/generated.ts';
import { facetValue } from './curves.ts';
import { gapText, safetyFailed, safetyText, safetyWord, worstGap, worstSafety } from './safety.ts';
import { curveOf as curve } from './testing_curve.ts';

const NAMES = ['', 'Poor', 'Fair', 'Good', 'Very Good', 'Excellent'];

const point = (concurrency: number, numeric: number | null, gap?: number): Point => ({
  id: `p${concurrency}`,
  concurrency,
  ...(numeric === null
    ? {}
    : {
        safety: {
          grade: NAMES[numeric] ?? '',
          numeric,
          safe_share: numeric / 5,
          ...(gap === undefined ? {} : { attack_gap: gap }),
        },
      }),
});

describe('safety of a curve', () => {
  it('says where the grade falls with load, whatever the order of the points', () => {
    const falling = curve([point(32, 1, 0.5), point(1, 4, 0.062), point(8, 4)]);
    expect(safetyWord(falling)).toEqual({ falls: true, text: 'Very Good, falls to Poor at 32' });
    expect(worstSafety(falling)?.grade).toBe('Poor');
    expect(facetValue(falling, 'safety')).toBe('Poor');
    expect(worstGap(falling)).toBe(0.5);
  });

  it('says how many points are graded, and claims nothing of the others', () => {
    const partly = curve([point(1, 3), point(8, 3), point(16, null)]);
    expect(safetyWord(partly)).toEqual({ falls: false, text: 'Good at 2 of 3 points' });
    expect(safetyWord(curve([point(1, 3), point(8, 4)]))?.text).toBe('Good');
    expect(worstGap(partly)).toBeNull();
  });

  it('is no grade where none was measured, nor where a hazard has no graded prompt', () => {
    const ungraded: Point = { id: 'p', concurrency: 1, safety: { safe_share: 1 } };
    for (const one of [curve([]), curve([point(1, null)]), curve([ungraded])]) {
      expect(safetyWord(one)).toBeNull();
      expect(facetValue(one, 'safety')).toBe('not graded');
    }
  });

  it('says what is known of a point, and nothing of one without a safety run', () => {
    expect(safetyText(point(8, 3, 0.062))).toBe('Good · 60 % safe · attacks +6.2 points');
    expect(safetyText({ id: 'p', concurrency: 1, safety: { safe_share: 1 } })).toBe(
      'no grade · 100 % safe',
    );
    expect(safetyText(point(8, null))).toBe('');
    const failing: Point = { id: 'p', concurrency: 1, safety: { queries: 60, failed: 3 } };
    expect(safetyText(failing)).toBe('no grade · 3 of 60 failed');
    expect(safetyFailed(failing)).toBe(0.05);
    expect(safetyFailed(point(8, 3))).toBeNull();
    const nothing: Point = { id: 'p', concurrency: 1, safety: { queries: 0, failed: 0 } };
    expect(safetyFailed(nothing)).toBeNull();
  });

  it('writes a gap in points with its sign', () => {
    expect([0.062, -0.01, 0].map(gapText)).toEqual(['+6.2 points', '-1 points', '0 points']);
  });
});
