import { describe, expect, it } from 'vitest';
import { basesText, powerOf, powerText } from './power.ts';
import { curveOf } from './testing_curve.ts';

const point = { id: 'p', concurrency: 1 } as const;
const stated = curveOf([point], { power_kw: 14.3, power_basis: 'provisioned' });
const guessed = curveOf([point], { power_kw: 146.8, power_basis: 'estimated' });

describe('power', () => {
  it("is the point's own before the system's, with its basis", () => {
    expect(powerOf(stated, { ...point, power_kw: 7, power_basis: 'measured' })).toEqual({
      kw: 7,
      basis: 'measured',
    });
    expect(powerOf(stated, point)).toEqual({ kw: 14.3, basis: 'provisioned' });
    expect(powerOf(curveOf([point]), point)).toBeNull();
    // A point's basis is not the system's.
    expect(powerOf(guessed, { ...point, power_kw: 7 })).toEqual({ kw: 7, basis: null });
  });

  it('names a default of the rules by their word', () => {
    expect(powerText({ kw: 146.8, basis: 'estimated' })).toBe('147 kW, MLC Estimated Power');
    expect(powerText({ kw: 2, basis: null })).toBe('2 kW, basis not known');
    expect(basesText([stated, guessed, stated, curveOf([point])])).toBe(
      '2 provisioned, 1 MLC Estimated Power',
    );
    expect(basesText([])).toBe('');
  });
});
