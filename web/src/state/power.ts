// A power and what it rests on: four quantities have one unit, and a page that shows one names it.

import type { Curve, Point, PowerBasis } from '../api/generated.ts';
import { number3 } from '../base/format.ts';

export interface Power {
  readonly kw: number;
  readonly basis: PowerBasis | null;
}

// The rules' own word for a default that is in the sum.
export const ESTIMATED = 'MLC Estimated Power';

// The point's own, else the system's; null where nobody stated it.
export function powerOf(curve: Curve, point: Point | null): Power | null {
  for (const of of [point, curve]) {
    if (of?.power_kw != null && of.power_kw > 0) {
      return { kw: of.power_kw, basis: of.power_basis ?? null };
    }
  }
  return null;
}

export const basisText = ({ basis }: Power): string =>
  basis === 'estimated' ? ESTIMATED : (basis ?? 'basis not known');

export const powerText = (power: Power): string => `${number3(power.kw)} kW, ${basisText(power)}`;

// "3 provisioned, 1 MLC Estimated Power": of the curves, each at its first point; '' without power.
export function basesText(curves: readonly Curve[]): string {
  const counts = new Map<string, number>();
  for (const curve of curves) {
    const power = powerOf(curve, (curve.points ?? []).find((one) => one.power_kw != null) ?? null);
    if (power === null) continue;
    counts.set(basisText(power), (counts.get(basisText(power)) ?? 0) + 1);
  }
  return [...counts].map(([basis, count]) => `${count} ${basis}`).join(', ');
}
