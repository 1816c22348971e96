import { describe, expect, it } from 'vitest';
import type { Curve, Point } from '../api/generated.ts';
import { random } from '../../journeys/fixture_events.ts';
import { bigStore, smallStore } from '../../journeys/fixture.ts';
import {
  type XY,
  choices,
  envelope,
  givenPrice,
  makeSeries,
  matches,
  passes,
  priceOf,
  undrawn,
  withoutDivisor,
} from './curves.ts';
import { DEFAULTS, type Selection } from './selection.ts';

const of = (documents: ReadonlyMap<string, unknown>): readonly Curve[] =>
  (documents.get('curves') as { items: readonly Curve[] }).items;
const small = of(smallStore());
const filtered = (filters: Partial<Selection['filters']>): Selection => ({
  ...DEFAULTS,
  filters: { ...DEFAULTS.filters, ...filters },
});

describe('curves', () => {
  it('are all shown when nothing is filtered', () => {
    expect(makeSeries(small, DEFAULTS)).toHaveLength(small.length);
  });

  it('pass a filter by any of its values, and all filters', () => {
    const shown = makeSeries(
      small,
      filtered({ accelerator: ['B200', 'H200'], kind: ['measured'] }),
    );
    expect(shown.map((one) => one.curve.system_name)).toEqual([
      'Aurora 8x',
      'Dune 4x',
      'Aurora 8x, modelled',
    ]);
    const none = makeSeries(small, filtered({ accelerator: ['H200'], accuracy: ['failed'] }));
    expect(none).toEqual([]);
  });

  it('count each choice as if its own facet were not filtered', () => {
    const selection = filtered({ accelerator: ['H200'], division: ['Standardized'] });
    for (const choice of choices(small, selection, 'accelerator')) {
      const alone = {
        ...selection,
        filters: { ...selection.filters, accelerator: [choice.value] },
      };
      expect(small.filter((curve) => passes(curve, alone)).length, choice.value).toBe(
        choice.curves,
      );
    }
  });

  it('count spellings that differ in case alone as one choice, whichever a link holds', () => {
    const [base] = small;
    const spelled = (accelerator: string): Curve => ({ ...base, accelerator }) as Curve;
    const three = [spelled('mi300x'), spelled('MI300X'), spelled('mi300x')];
    for (const held of ['mi300x', 'MI300X', 'Mi300x']) {
      const selection = filtered({ accelerator: [held] });
      expect(makeSeries(three, selection)).toHaveLength(3);
      expect(choices(three, selection, 'accelerator')).toEqual([{ value: 'mi300x', curves: 3 }]);
      expect(three.map((one) => givenPrice({ [held]: 2 }, one.accelerator))).toEqual([2, 2, 2]);
    }
    expect(givenPrice({ MI300X: 2, mi300x: 3 }, 'mi300x')).toBe(3);
    expect(givenPrice({ MI300X: 2 }, null)).toBeUndefined();
    const even = three.slice(0, 2);
    expect(choices(even, DEFAULTS, 'accelerator')).toEqual([{ value: 'MI300X', curves: 2 }]);
  });

  it('name the runs that no chart can show, and why', () => {
    const [base] = small;
    const [first] = base?.points ?? [];
    const point = { ...(first as Point), system_tps: null };
    const curve: Curve = {
      ...(base as Curve),
      points: [
        first as Point,
        { ...point, id: 'dead', issued: 60, failed: 60 },
        { ...point, id: 'silent', issued: 60, failed: 0 },
      ],
    };
    expect(undrawn([curve], DEFAULTS).map((one) => [one.point.id, one.why])).toEqual([
      ['dead', 'all 60 queries failed'],
      ['silent', 'its throughput is not known'],
    ]);
    expect(undrawn([curve], filtered({ accuracy: ['failed'] }))).toEqual([]);
    expect(undrawn(small, DEFAULTS)).toEqual([]);
  });

  it('keep a twin beside its partner, and off when twins are off', () => {
    const names = (selection: Selection): string[] =>
      makeSeries(small, selection).map((one) => one.curve.system_name);
    expect(names({ ...DEFAULTS, search: 'b200' })).toContain('Aurora 8x, modelled');
    expect(names({ ...DEFAULTS, twin: false })).not.toContain('Aurora 8x, modelled');
    const series = makeSeries(small, DEFAULTS);
    const look = (name: string): number | undefined =>
      series.find((one) => one.curve.system_name === name)?.look;
    expect(look('Aurora 8x, modelled')).toBe(look('Aurora 8x'));
  });

  it('are told from others of their name by as few words as that takes', () => {
    const [base] = small;
    const make = (id: string, more: Partial<Curve>): Curve => ({ ...(base as Curve), id, ...more });
    const same = { system_name: 'S', software: 'e', organisation: 'o', kind: 'measured' } as const;
    const titles = (...of: readonly Partial<Curve>[]): string[] =>
      makeSeries(
        of.map((one, i) => make(String(i), { ...same, ...one })),
        DEFAULTS,
      ).map((one) => one.title);
    expect(titles({ dataset: 'a' }, { dataset: 'a', system_name: 'T' })).toEqual(['S', 'T']);
    expect(titles({ dataset: 'v6.0' }, { dataset: 'v6.1' })).toEqual(['S, v6.0', 'S, v6.1']);
    expect(
      titles(
        { precision: 'fp8', dataset: 'a' },
        { precision: 'bf16', dataset: 'b' },
        { precision: 'bf16', dataset: 'a' },
      ),
    ).toEqual(['S, fp8, a', 'S, bf16, b', 'S, bf16, a']);
    expect(titles({ published: '2026-04-01' }, { published: '2026-09-01' })).toEqual([
      'S, 2026-04-01',
      'S, 2026-09-01',
    ]);
    expect(titles({}, { kind: 'simulated', twin_of: null })).toEqual(['S', 'S']);
    expect(titles({}, {})).toEqual(['S', 'S']);
  });

  it('lose the points outside of the chosen concurrency, and not the ceiling', () => {
    const series = makeSeries(small, { ...DEFAULTS, concurrency_min: 10, concurrency_max: 100 });
    for (const one of series) {
      expect(one.points.map((point) => point.concurrency)).toEqual([16, 32, 64]);
    }
    expect(series[0]?.ceiling?.id).toBe('p0-offline');
  });

  it('are divided by what was provided, and left out where it was not', () => {
    const perKw = makeSeries(small, { ...DEFAULTS, per: 'kw' });
    expect(perKw.map((one) => one.curve.system_name)).not.toContain('Dune 4x');
    expect(withoutDivisor(small, { ...DEFAULTS, per: 'kw' })).toBe(2);
    const first = perKw[0];
    expect(first?.values[0]).toBeCloseTo((first?.points[0]?.system_tps ?? 0) / 14.3, 9);
    const each = makeSeries(small, { ...DEFAULTS, per: 'accelerator' })[0];
    expect(each?.values[0]).toBeCloseTo((each?.points[0]?.system_tps ?? 0) / 8, 9);
  });

  it('take the price of their accelerator before the common one', () => {
    const curve = small[0] as Curve;
    expect(priceOf(curve, { ...DEFAULTS, price: 2 })).toBe(16);
    expect(priceOf(curve, { ...DEFAULTS, price: 2, prices: { B200: 5 } })).toBe(40);
    expect(priceOf({ ...curve, price_per_hour: 9 }, DEFAULTS)).toBe(9);
    expect(priceOf({ ...curve, accelerators: null }, DEFAULTS)).toBeNull();
  });

  it('are found by all words of a search', () => {
    expect(matches(small[0] as Curve, 'sglang AURORA')).toBe(true);
    expect(matches(small[0] as Curve, 'sglang borealis')).toBe(false);
  });

  it('have eight different looks at most, and what is pinned has one', () => {
    const big = of(bigStore());
    const looks = makeSeries(big, DEFAULTS).flatMap((one) => (one.look < 0 ? [] : [one.look]));
    expect(new Set(looks).size).toBe(looks.length);
    expect(looks).toHaveLength(8);
    const pinned = makeSeries(big, { ...DEFAULTS, pinned: ['c400', 'c3'] });
    expect(pinned.filter((one) => one.look >= 0).map((one) => one.curve.id)).toEqual([
      'c3',
      'c400',
    ]);
  });
});

function slowEnvelope(points: readonly XY[]): readonly XY[] {
  return points.filter(
    (p) => !points.some((q) => q !== p && q.x >= p.x && q.y >= p.y && (q.x > p.x || q.y > p.y)),
  );
}

describe('the envelope', () => {
  it('is what no point beats in both, by the slow definition', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const draw = random(seed);
      const points = Array.from({ length: 1 + Math.floor(draw() * 30) }, () => ({
        x: Math.floor(draw() * 12),
        y: Math.floor(draw() * 12),
      }));
      const distinct = [...new Map(points.map((p) => [`${p.x} ${p.y}`, p])).values()];
      const slow = [...slowEnvelope(distinct)].sort((p, q) => q.x - p.x);
      expect(envelope(points), `seed ${seed}`).toEqual(slow);
    }
  });
});
