import { describe, expect, it } from 'vitest';
import type { Curve } from '../api/generated.ts';
import { smallStore } from '../../journeys/fixture.ts';
import {
  atEqualConcurrency,
  atEqualInteractivity,
  differences,
  divided,
  stepAt,
} from './compare.ts';
import { DEFAULTS } from './selection.ts';

const curves = (smallStore().get('curves') as { items: readonly Curve[] }).items;
const [a, b] = [curves[0] as Curve, curves[2] as Curve];
const hand: Curve = {
  ...a,
  points: [
    { id: '1', concurrency: 1, tps_per_user: 100, system_tps: 100 },
    { id: '2', concurrency: 8, tps_per_user: 50, system_tps: 400 },
    { id: 'o', concurrency: 99, tps_per_user: 99, system_tps: 9999, offline: 'dedicated' },
  ],
};

describe('comparing', () => {
  it('takes the best measured point that is still fast enough, never a value between', () => {
    expect(stepAt(hand, 101)).toBeNull();
    expect(stepAt(hand, 100)).toBe(100);
    expect(stepAt(hand, 51)).toBe(100);
    expect(stepAt(hand, 50)).toBe(400);
    expect(stepAt(hand, 1)).toBe(400);
  });

  it('compares a system with itself as equal everywhere', () => {
    expect(atEqualInteractivity(a, a).every((row) => row.ratio === 1)).toBe(true);
    expect(differences(a, a)).toEqual([]);
  });

  it('has a row for each concurrency that both measured', () => {
    expect(atEqualConcurrency(a, b).map((row) => row.concurrency)).toEqual(
      (b.points ?? []).map((point) => point.concurrency),
    );
    expect(atEqualConcurrency(hand, b).map((row) => row.concurrency)).toEqual([1, 8]);
  });

  it('turned round gives the inverse ratios', () => {
    const back = atEqualInteractivity(b, a);
    atEqualInteractivity(a, b).forEach((row, i) => {
      const other = back[i]?.ratio ?? null;
      if (row.ratio === null) expect(other).toBeNull();
      else expect(row.ratio * (other ?? NaN)).toBeCloseTo(1, 12);
    });
  });

  it('divides eight accelerators and one by what they are', () => {
    const eight = { ...a, accelerators: 8 };
    const each = { ...DEFAULTS, per: 'accelerator' as const };
    const [first] = a.points ?? [];
    expect(divided(eight, each).points?.[0]?.system_tps).toBe((first?.system_tps ?? 0) / 8);
    expect(divided(eight, DEFAULTS).points).toEqual(eight.points);
    // Nobody said how many: nothing is compared.
    expect(divided({ ...a, accelerators: null }, each).points).toEqual([]);
  });

  it('names what differs, with its unit', () => {
    expect(differences(a, b).map((one) => one.title)).toContain('Accelerator');
    expect(differences({ ...a, power_kw: 7 }, { ...a, power_kw: 8 })).toEqual([
      { title: 'Power, kW', a: '7', b: '8' },
    ]);
  });
});
