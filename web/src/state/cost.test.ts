import { describe, expect, it } from 'vitest';
import type { Curve, Point } from '../api/generated.ts';
import {
  type Cost,
  bestPoint,
  byCost,
  ceil,
  costOf,
  meets,
  proofOf,
  replicasFor,
  usdOf,
  unlikeWords,
  usdPerMtok,
  usersPerAccelerator,
  verdict,
} from './cost.ts';
import { DEFAULTS, type Selection } from './selection.ts';
import { curveOf } from './testing_curve.ts';

const point = (concurrency: number, tps: number, perUser: number, ttft: number | null): Point => ({
  id: `p${concurrency}`,
  concurrency,
  system_tps: tps,
  tps_per_user: perUser,
  ttft_ms_p90: ttft,
});

const curve = (points: readonly Point[], more: Partial<Curve> = {}): Curve =>
  curveOf(points, { accelerator: 'H100', accelerators: 1, ...more });

const asked: Selection = {
  ...DEFAULTS,
  slo_tps_per_user: 30,
  slo_ttft_ms: 1000,
  users: 100,
  price: 4.76,
};

// The published buying advice whose arithmetic is to come out: 100 users at 30 tok/s of a 70B
// model on H100 at $4.76 an hour (spec/adjacent_systems.md, section 7).
describe('cost', () => {
  it('finds the figures of the published example', () => {
    const cost = costOf(curve([point(25, 750, 30, 500)]), asked);
    expect(cost.users_per_system).toBe(25);
    expect(cost.replicas).toBe(4);
    expect(cost.accelerators).toBe(4);
    expect(cost.usd_per_hour).toBeCloseTo(19.04, 10);
    expect(cost.usd_per_user_hour).toBeCloseTo(0.1904, 10);
    expect(cost.usd_per_mtok).toBeCloseTo(1.763, 3);
  });

  it('sells everything that the fleet makes for the lower price', () => {
    expect(usdPerMtok(19.04, 4 * 820)).toBeCloseTo(1.612, 3);
  });

  it('needs 5 to 7 accelerators where production reaches 80 to 60 % of the measured', () => {
    const needed = [0.8, 0.7, 0.6].map((derate) =>
      costOf(curve([point(25, 750, 30, 500)]), { ...asked, derate }),
    );
    expect(needed.map((cost) => cost.replicas)).toEqual([5, 6, 7]);
    const perUser = needed.map((cost) => Number(cost.usd_per_user_hour?.toFixed(3)));
    expect(perUser).toEqual([0.238, 0.286, 0.333]);
  });

  it('does not round 3000 / 750 up to 5', () => {
    expect(ceil(3000 / 750)).toBe(4);
    expect(ceil(0.1 * 3 * 10)).toBe(3);
    expect(ceil(4.0001)).toBe(5);
    expect(replicasFor({ users: 3000, derate: 1, headroom: 0 }, 750)).toBe(4);
    expect(replicasFor({ users: 3, derate: 0.1, headroom: 0 }, 10)).toBe(3);
  });

  it('never divides by the Offline throughput', () => {
    const offline: Point = { ...point(6396, 99999, 31, 10), offline: 'dedicated' };
    expect(
      bestPoint([offline, point(8, 300, 40, 100)], { tps_per_user: 30, ttft_ms: 1000 })?.id,
    ).toBe('p8');
  });

  it('wants both halves of the promise', () => {
    const slo = { tps_per_user: 30, ttft_ms: 1000 };
    expect(meets(point(1, 1, 30, 1000), slo)).toBe(true);
    expect(meets(point(1, 1, 29.9, 10), slo)).toBe(false);
    expect(meets(point(1, 1, 90, 1001), slo)).toBe(false);
    expect(meets(point(1, 1, 90, null), slo)).toBe(false);
  });

  it('says why a system is not on offer', () => {
    const why = (points: readonly Point[]): string => costOf(curve(points), asked).why;
    expect(why([])).toBe('no points');
    expect(why([point(1, 9, 9, 9)])).toBe('no point is as fast per user');
    expect(why([point(1, 9, 90, null)])).toBe('TTFT is not known');
    expect(why([point(1, 9, 90, 5000)])).toBe('the first token comes too late');
  });

  it('has no price where none is known', () => {
    const cost = costOf(curve([point(25, 750, 30, 500)], { accelerators: null }), asked);
    expect(cost.usd_per_mtok).toBeNull();
    expect(cost.replicas).toBe(4);
  });

  it('follows the price, the promise and the reserve the right way', () => {
    const points = [point(1, 100, 100, 50), point(16, 900, 56, 200), point(64, 2000, 31, 700)];
    const at = (patch: Partial<Selection>): ReturnType<typeof costOf> =>
      costOf(curve(points), { ...asked, ...patch });
    for (let price = 1; price < 9; price += 1) {
      expect(at({ price: price + 1 }).usd_per_mtok).toBeGreaterThan(
        at({ price }).usd_per_mtok ?? NaN,
      );
    }
    for (let slo = 5; slo < 95; slo += 5) {
      const [now, stricter] = [at({ slo_tps_per_user: slo }), at({ slo_tps_per_user: slo + 5 })];
      expect(stricter.users_per_system).toBeLessThanOrEqual(now.users_per_system);
    }
    for (let reserve = 0; reserve < 0.9; reserve += 0.1) {
      expect(at({ headroom: reserve + 0.05 }).replicas).toBeGreaterThanOrEqual(
        at({ headroom: reserve }).replicas ?? NaN,
      );
    }
  });

  it('puts the cheapest first and the impossible last', () => {
    const cheap = costOf(curve([point(64, 2000, 31, 700)]), asked);
    const dear = costOf(curve([point(2, 70, 35, 100)]), asked);
    const none = costOf(curve([]), asked);
    expect([none, dear, cheap].sort(byCost)).toEqual([cheap, dear, none]);
  });

  it('is proven by the point itself, by one of its region, by the nearest, by none', () => {
    const at = (
      concurrency: number,
      accuracy: NonNullable<Point['accuracy']>,
      region: NonNullable<Point['region']>,
    ): Point => ({
      ...point(concurrency, 100, 30, 500),
      accuracy,
      region,
    });
    const low = at(8, 'passed', 'low_concurrency');
    const middle = at(60, 'unknown', 'med_concurrency');
    const scored = at(200, 'passed', 'med_concurrency');
    const high = at(70, 'passed', 'high_concurrency');
    const all = curve([low, middle, scored, high]);
    expect(proofOf(all, low)).toBe(low);
    expect(proofOf(all, middle)).toBe(scored);
    expect(proofOf(curve([low, middle, high]), middle)).toBe(high);
    expect(proofOf(curve([middle], { accuracy: 'unknown' }), middle)).toBeNull();
    const failed = at(2, 'failed', 'low_latency');
    expect(proofOf(curve([low, failed], { accuracy: 'failed' }), low)).toBe(failed);
  });

  it('makes up no price and no number of users', () => {
    const unpriced = costOf(curve([point(25, 750, 30, 500)]), { ...asked, price: DEFAULTS.price });
    expect(unpriced.price_per_hour).toBeNull();
    expect(usdOf(unpriced)).toBeNull();
    const unasked = costOf(curve([point(25, 750, 30, 500)]), { ...asked, users: DEFAULTS.users });
    expect(unasked.replicas).toBeNull();
    expect(unasked.usd_per_mtok).toBeNull();
    expect(unasked.usd_per_user_hour).toBeNull();
    expect(unasked.usd_per_hour).toBe(4.76);
    expect(usdOf(unasked)).toBeCloseTo(usdPerMtok(4.76, 750), 9);
  });

  it('knows a last level that still keeps the promise for a lower bound', () => {
    const ended = costOf(curve([point(64, 2000, 31, 700), point(128, 2500, 19, 900)]), asked);
    expect(ended.open_ended).toBe(false);
    const offline: Point = { ...point(6396, 99999, 31, 10), offline: 'dedicated' };
    const open = costOf(curve([point(64, 2000, 31, 700), offline]), asked);
    expect(open.open_ended).toBe(true);
  });
});

describe('a verdict', () => {
  const slow = point(1000, 9999, 9, 100);
  const system = (id: string, users: number, more: Partial<Curve> = {}): Cost =>
    costOf(curve([point(users, users * 30, 30, 100), slow], { id, ...more }), asked);
  const users = (cost: Cost): number => cost.users_per_system;

  it('names one leader, and all of a tie', () => {
    const [a, b, c] = [system('a', 10), system('b', 20), system('c', 20)];
    expect(verdict([a, b], users, 'higher')).toMatchObject({ kind: 'one', leaders: [b] });
    expect(verdict([a, b, c], users, 'higher')).toMatchObject({ kind: 'tie', leaders: [b, c] });
    expect(verdict([b, a], users, 'lower')).toMatchObject({ kind: 'one', leaders: [a] });
  });

  it('lets nobody win beside a sweep that ended too early', () => {
    const open = costOf(curve([point(15, 450, 30, 100)], { id: 'open' }), asked);
    expect(verdict([system('b', 20), open], users, 'higher').kind).toBe('open');
    const also = costOf(curve([point(15, 450, 30, 100)], { id: 'also' }), asked);
    expect(verdict([also, open], users, 'higher').kind).toBe('open');
    // Wherever its end is, it lies above the other's.
    expect(verdict([system('a', 10), open], users, 'higher')).toMatchObject({
      kind: 'one',
      leaders: [open],
    });
    expect(verdict([open], users, 'higher')).toMatchObject({ kind: 'open', open: [open] });
  });

  it('is none where a figure is unknown, or nobody keeps the promise', () => {
    const unpriced = system('a', 10, { accelerators: null });
    expect(verdict([unpriced, system('b', 20)], usdOf, 'lower').kind).toBe('none');
    expect(verdict([costOf(curve([]), asked)], users, 'higher').kind).toBe('none');
  });

  it('says in the same line what is simulated and whose accuracy is proven', () => {
    const a = system('a', 10);
    expect(unlikeWords([a, system('b', 20)])).toBe('');
    expect(unlikeWords([a, system('b', 20, { kind: 'simulated' })])).toBe(
      ' (measured systems beside simulated ones)',
    );
    expect(unlikeWords([a, system('b', 20, { accuracy: 'unknown' })])).toBe(
      ' (accuracy passed of 1, unknown of 1)',
    );
    const misses = costOf(curve([], { kind: 'simulated', accuracy: 'failed' }), asked);
    expect(unlikeWords([a, misses])).toBe('');
  });

  it('compares accelerators with accelerators', () => {
    const eight = system('eight', 80, { accelerators: 8 });
    const one = system('one', 20);
    expect(verdict([eight, one], users, 'higher').leaders).toEqual([eight]);
    expect(verdict([eight, one], usersPerAccelerator, 'higher').leaders).toEqual([one]);
  });
});
