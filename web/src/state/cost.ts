// What a service level costs: from points, a price and an SLO to users, dollars and accelerators.
//
// The divisor is the throughput at the operating point where each user still gets the promised
// speed, never the Offline throughput (which no user ever sees). Steps, no interpolation: a
// system is as good as a point that was measured. Formulas:
//
//   users_per_system = min(concurrency, system_tps / slo_tps_per_user), of the SLO's best point
//   replicas         = ceil(users / (users_per_system × derate × (1 − headroom))) + spare
//   $ / Mtok         = 10^6 × $/hour / (3600 × users × slo_tps_per_user × utilisation)
//   $ / user-hour    = $/hour / users, with $/hour of the fleet as in bill.ts
//
// Where the user gave no number of users there is no fleet: one system is what is priced, with
// every token sold. A point that is the last of its sweep and still keeps the promise is a lower
// bound: more users were never tried. It leads only where that bound is above what others reach.

import type { Curve, Point } from '../api/generated.ts';
import { fleetHourly, hourlyOf, totalOf } from './bill.ts';
import { isCeiling } from './curves.ts';
import type { Selection } from './selection.ts';

export interface Slo {
  readonly tps_per_user: number;
  readonly ttft_ms: number;
}

export interface Demand {
  readonly users: number;
  readonly derate: number;
  readonly headroom: number;
}

export interface Cost {
  readonly curve: Curve;
  readonly title: string; // as Series has it
  // The point that meets the SLO with the most users; null: none does, and `why` says what is
  // missing.
  readonly point: Point | null;
  readonly why: string;
  readonly users_per_system: number;
  // No higher level was measured: it serves at least so many.
  readonly open_ended: boolean;
  // null: no number of users was given.
  readonly replicas: number | null;
  readonly accelerators: number | null;
  readonly price_per_hour: number | null;
  readonly usd_per_hour: number | null;
  readonly usd_per_mtok: number | null;
  // The same when everything the fleet can make is sold.
  readonly usd_per_mtok_full: number | null;
  readonly usd_per_user_hour: number | null;
  // Over the years that were given.
  readonly usd_total: number | null;
  // What the sum lacks because it is not known of this system.
  readonly without: readonly string[];
}

export function meets(point: Point, slo: Slo): boolean {
  return (
    point.tps_per_user != null &&
    point.tps_per_user >= slo.tps_per_user &&
    point.ttft_ms_p90 != null &&
    point.ttft_ms_p90 <= slo.ttft_ms
  );
}

export function usersAt(point: Point, slo: Slo): number {
  return Math.min(point.concurrency, (point.system_tps ?? 0) / slo.tps_per_user);
}

// 3000 / 750 is 4 systems, however the division rounds.
export function ceil(value: number): number {
  const near = Math.round(value);
  return Math.abs(value - near) < 1e-9 * Math.max(1, Math.abs(value)) ? near : Math.ceil(value);
}

export function replicasFor(demand: Demand, usersPerSystem: number): number {
  const real = usersPerSystem * demand.derate * (1 - demand.headroom);
  return real > 0 ? ceil(demand.users / real) : Infinity;
}

export const usdPerMtok = (usdPerHour: number, tps: number): number =>
  (1e6 * usdPerHour) / (3600 * tps);

export function bestPoint(points: readonly Point[], slo: Slo): Point | null {
  let best: Point | null = null;
  for (const point of points) {
    if (isCeiling(point) || !meets(point, slo)) continue;
    if (best === null || usersAt(point, slo) > usersAt(best, slo)) best = point;
  }
  return best;
}

// No measured level lies above it.
export function isLastOf(points: readonly Point[], point: Point): boolean {
  return points.every((other) => isCeiling(other) || other.concurrency <= point.concurrency);
}

// What a million tokens cost: at the users that were asked for, else with everything sold.
export const usdOf = (cost: Cost): number | null => cost.usd_per_mtok ?? cost.usd_per_mtok_full;

// Users of one accelerator, where a system says how many it has.
export function usersPerAccelerator(cost: Cost): number | null {
  const count = cost.curve.accelerators ?? 0;
  return count > 0 ? cost.users_per_system / count : null;
}

// Who leads by a figure, as `assay decide` has it. `one`: a single system, and every other was
// measured to its end; `tie`: several have the same; `open`: a rival was not measured to its end,
// so nobody is known to lead; `none`: the figure is not known of a system that meets the promise.
export interface Verdict {
  readonly kind: 'one' | 'tie' | 'open' | 'none';
  readonly leaders: readonly Cost[];
  readonly open: readonly Cost[];
}

export function verdict(
  costs: readonly Cost[],
  figure: (cost: Cost) => number | null,
  better: 'higher' | 'lower',
): Verdict {
  const meeting = costs.filter((cost) => cost.point !== null);
  const open = meeting.filter((cost) => cost.open_ended);
  const values = meeting.map(figure);
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0 || known.length < meeting.length)
    return { kind: 'none', leaders: [], open };
  const best = better === 'higher' ? Math.max(...known) : Math.min(...known);
  const same = (value: number): boolean => Math.abs(value - best) <= 1e-9 * Math.abs(best);
  const leaders = meeting.filter((_, i) => same(values[i] ?? NaN));
  // What one that leads alone can do beyond its sweep makes it lead by more.
  const rivals =
    leaders.length === 1 && meeting.length > 1 ? open.filter((one) => one !== leaders[0]) : open;
  if (rivals.length > 0) return { kind: 'open', leaders, open };
  return { kind: leaders.length > 1 ? 'tie' : 'one', leaders, open };
}

// What must be said in the line that compares systems: some are simulated, or their accuracy is not
// alike. '' where there is nothing of the kind.
export function unlikeWords(costs: readonly Cost[]): string {
  const curves = costs.filter((cost) => cost.point !== null).map((cost) => cost.curve);
  const simulated = curves.filter((curve) => curve.kind === 'simulated').length;
  const kinds =
    simulated > 0 && simulated < curves.length ? 'measured systems beside simulated ones' : '';
  const states = [...new Set(curves.map((curve) => curve.accuracy))];
  const accuracy =
    states.length > 1
      ? 'accuracy ' +
        states
          .map((state) => `${state} of ${curves.filter((one) => one.accuracy === state).length}`)
          .join(', ')
      : '';
  const both = [kinds, accuracy].filter((words) => words !== '').join('; ');
  return both === '' ? '' : ` (${both})`;
}

export function costOf(
  curve: Curve,
  selection: Selection,
  title: string = curve.system_name,
): Cost {
  const slo = { tps_per_user: selection.slo_tps_per_user, ttft_ms: selection.slo_ttft_ms };
  const demand = { users: selection.users, derate: selection.derate, headroom: selection.headroom };
  const point = bestPoint(curve.points ?? [], slo);
  const { usd: price, without } = hourlyOf(curve, point, selection);
  if (point === null) return unmet(curve, title, slo, price);
  const perSystem = usersAt(point, slo);
  const asked = demand.users > 0;
  const spare = selection.bill.spare ?? 0;
  const systemsFor = (users: number): number =>
    asked ? replicasFor({ ...demand, users }, perSystem) + spare : 1;
  const replicas = asked ? systemsFor(demand.users) : null;
  const systems = replicas ?? 1;
  const perHour =
    price === null || !Number.isFinite(systems) ? null : fleetHourly(systems, price, selection);
  const utilisation = selection.bill.utilisation ?? 1;
  const sold = demand.users * slo.tps_per_user * utilisation;
  const made = systems * (point.system_tps ?? 0) * demand.derate * utilisation;
  return {
    curve,
    title,
    point,
    why: '',
    users_per_system: perSystem,
    open_ended: isLastOf(curve.points ?? [], point),
    replicas,
    accelerators: curve.accelerators == null ? null : systems * curve.accelerators,
    price_per_hour: price,
    usd_per_hour: perHour,
    usd_per_mtok: perHour === null || !asked ? null : usdPerMtok(perHour, sold),
    usd_per_mtok_full: perHour === null ? null : usdPerMtok(perHour, made),
    usd_per_user_hour: perHour === null || !asked ? null : perHour / demand.users,
    usd_total: price === null ? null : totalOf(price, systemsFor, selection),
    without,
  };
}

function unmet(curve: Curve, title: string, slo: Slo, price: number | null): Cost {
  const steps = (curve.points ?? []).filter((point) => !isCeiling(point));
  const fast = steps.filter((point) => (point.tps_per_user ?? 0) >= slo.tps_per_user);
  const why =
    steps.length === 0
      ? 'no points'
      : fast.length === 0
        ? 'no point is as fast per user'
        : fast.every((point) => point.ttft_ms_p90 == null)
          ? 'TTFT is not known'
          : 'the first token comes too late';
  return {
    curve,
    title,
    point: null,
    why,
    users_per_system: 0,
    open_ended: false,
    replicas: null,
    accelerators: null,
    price_per_hour: price,
    usd_per_hour: null,
    usd_per_mtok: null,
    usd_per_mtok_full: null,
    usd_per_user_hour: null,
    usd_total: null,
    without: [],
  };
}

// The point whose accuracy was scored and stands for the one that is sold: itself, else the nearest
// of its region, else the nearest. The rules ask for accuracy at one point of each region.
export function proofOf(curve: Curve, point: Point): Point | null {
  const verdict = curve.accuracy;
  if (verdict === 'unknown') return null;
  const distance = (other: Point): number =>
    (other.id === point.id ? -2 : other.region === point.region && point.region ? -1 : 0) +
    Math.min(0.99, Math.abs(Math.log((other.concurrency || 1) / (point.concurrency || 1))) / 100);
  return (curve.points ?? [])
    .filter((other) => other.accuracy === verdict)
    .reduce<Point | null>(
      (best, other) => (best === null || distance(other) < distance(best) ? other : best),
      null,
    );
}

function order(x: number | null, y: number | null): number {
  return x === y ? 0 : (x ?? Infinity) - (y ?? Infinity);
}

// Cheapest first; those that miss the SLO last.
export function byCost(x: Cost, y: Cost): number {
  return (
    order(usdOf(x), usdOf(y)) ||
    y.users_per_system - x.users_per_system ||
    x.title.localeCompare(y.title)
  );
}
