// Two curves, point by point: at equal concurrency, and at equal interactivity by steps.

import type { Curve, Point } from '../api/generated.ts';
import { divisor, isCeiling, sameValue } from './curves.ts';
import type { Selection } from './selection.ts';

export interface AtConcurrency {
  readonly concurrency: number;
  readonly a: Point;
  readonly b: Point;
}

export interface AtInteractivity {
  readonly tps_per_user: number;
  // The highest throughput of a point that still gives each user as much; null: none does.
  readonly a_system_tps: number | null;
  readonly b_system_tps: number | null;
  readonly ratio: number | null;
}

export interface Difference {
  readonly title: string; // of the field, with its unit
  readonly a: string;
  readonly b: string;
}

const steps = (curve: Curve): readonly Point[] =>
  (curve.points ?? []).filter((point) => !isCeiling(point));

// The curve with its throughput per system, accelerator, kW or dollar, as the selection says;
// without the points whose divisor nobody stated.
export function divided(curve: Curve, selection: Selection): Curve {
  const points = (curve.points ?? []).flatMap((point) => {
    const by = divisor(curve, point, selection.per, selection);
    if (by === null) return [];
    return [{ ...point, system_tps: point.system_tps == null ? null : point.system_tps / by }];
  });
  return { ...curve, points };
}

export function atEqualConcurrency(a: Curve, b: Curve): readonly AtConcurrency[] {
  const of = new Map(steps(b).map((point) => [point.concurrency, point]));
  return steps(a).flatMap((point) => {
    const other = of.get(point.concurrency);
    return other === undefined ? [] : [{ concurrency: point.concurrency, a: point, b: other }];
  });
}

// Where both have a safety run.
export const bothGraded = (a: Curve, b: Curve): readonly AtConcurrency[] =>
  atEqualConcurrency(a, b).filter((row) => row.a.safety != null && row.b.safety != null);

export function stepAt(curve: Curve, tpsPerUser: number): number | null {
  let best: number | null = null;
  for (const point of steps(curve)) {
    if (point.tps_per_user == null || point.system_tps == null) continue;
    if (point.tps_per_user < tpsPerUser) continue;
    if (best === null || point.system_tps > best) best = point.system_tps;
  }
  return best;
}

export function atEqualInteractivity(a: Curve, b: Curve): readonly AtInteractivity[] {
  const at = new Set([...steps(a), ...steps(b)].flatMap((point) => point.tps_per_user ?? []));
  return [...at]
    .sort((x, y) => x - y)
    .map((tps) => {
      const left = stepAt(a, tps);
      const right = stepAt(b, tps);
      const ratio = left === null || right === null || left === 0 ? null : right / left;
      return { tps_per_user: tps, a_system_tps: left, b_system_tps: right, ratio };
    });
}

// With the words of their column.
const FIELDS = {
  organisation: 'Organisation',
  dataset: 'Dataset',
  kind: 'Kind',
  division: 'Division',
  availability: 'Availability',
  accelerator: 'Accelerator',
  accelerators: 'Accelerators',
  nodes: 'Nodes',
  software: 'Software stack',
  precision: 'Precision',
  power_kw: 'Power, kW',
  power_basis: 'Basis of the power',
  price_per_hour: 'Price, $ an hour',
  accuracy: 'Accuracy',
  origin: 'Origin',
  cohort: 'Cohort',
  concurrency_max: 'Highest concurrency',
} as const;

export function differences(a: Curve, b: Curve): readonly Difference[] {
  const text = (value: unknown): string =>
    value == null || value === '' ? 'unknown' : String(value);
  return (Object.keys(FIELDS) as (keyof typeof FIELDS)[])
    .map((field) => ({ title: FIELDS[field], a: text(a[field]), b: text(b[field]) }))
    .filter((difference) => !sameValue(difference.a, difference.b));
}
