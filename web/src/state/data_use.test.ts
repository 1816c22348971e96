import { describe, expect, it } from 'vitest';
import type { DataUse } from '../api/generated.ts';
import { type Asked, ELSEWHERE, USE_AXES, answerOf, regionText } from './data_use.ts';

const AXES = {
  purposes: ['', 'research', 'commercial'],
  commercial: ['', 'yes', 'no'],
  nonprofit: ['', 'yes', 'no'],
  methods: ['', 'develop', 'apply'],
  regions: ['', 'DE', ELSEWHERE],
};

// Each answer says for which use it is.
function table(): DataUse {
  const verdicts: DataUse['verdicts'][number][] = [];
  const walk = (words: readonly string[]): void => {
    const axis = USE_AXES[words.length];
    if (axis === undefined) {
      verdicts.push({
        verdict: 'unknown',
        decided: [{ says: 'unknown', where: '', what: words.join('|') }],
      });
    } else for (const word of AXES[axis]) walk([...words, word]);
  };
  walk([]);
  return { ...AXES, answers: verdicts.map((_, i) => i), verdicts };
}

const whatOf = (asked: Asked): string | undefined => answerOf(table(), asked)?.decided[0]?.what;
const NONE: Asked = { purposes: '', commercial: '', nonprofit: '', methods: '', regions: '' };

describe('a use of data', () => {
  it('has the answer of its own place in the table', () => {
    for (const purposes of AXES.purposes) {
      for (const commercial of AXES.commercial) {
        for (const regions of AXES.regions) {
          const asked = { ...NONE, purposes, commercial, methods: 'apply', regions };
          expect(whatOf(asked)).toBe(`${purposes}|${commercial}||apply|${regions}`);
        }
      }
    }
  });

  it('takes a country that no policy names for another one, and nonsense for not stated', () => {
    expect(whatOf({ ...NONE, regions: 'FR' })).toBe(`||||${ELSEWHERE}`);
    expect(whatOf({ ...NONE, regions: 'far away', purposes: 'theft' })).toBe('||||');
  });

  it('is null where the table is cut short', () => {
    expect(answerOf({ ...table(), answers: [] }, NONE)).toBeNull();
  });

  it('names regions', () => {
    expect(['', 'DE', 'EU', ELSEWHERE, 'QQ'].map(regionText)).toEqual([
      'not stated',
      'Germany (DE)',
      'the EU',
      'another country',
      'QQ',
    ]);
  });
});
