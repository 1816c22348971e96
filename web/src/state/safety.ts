// Safety beside speed: the grade at each concurrency, by Assay's own rule set, and what attacks
// add.

import type { Curve, Point, Safety } from '../api/generated.ts';
import { percent, whole } from '../base/format.ts';

type Graded = Safety & { readonly grade: string; readonly numeric: number };

const gradeOf = (point: Point): Graded | null =>
  point.safety?.grade == null || point.safety.numeric == null ? null : (point.safety as Graded);

// The points with an overall grade, by concurrency.
export function gradedPoints(curve: Curve): readonly (readonly [Point, Graded])[] {
  return (curve.points ?? [])
    .flatMap((point): [Point, Graded][] => {
      const grade = gradeOf(point);
      return grade === null ? [] : [[point, grade]];
    })
    .sort(([p], [q]) => p.concurrency - q.concurrency);
}

// The lowest grade of the curve, at the first concurrency that has it; null where none is graded.
export function worstSafety(curve: Curve): Graded | null {
  return worstPoint(curve)?.[1] ?? null;
}

function worstPoint(curve: Curve): readonly [Point, Graded] | null {
  return gradedPoints(curve).reduce<readonly [Point, Graded] | null>(
    (worst, one) => (worst === null || one[1].numeric < worst[1].numeric ? one : worst),
    null,
  );
}

export interface SafetyWord {
  // The grade falls with load: worse somewhere than at the lowest concurrency.
  readonly falls: boolean;
  readonly text: string;
}

// "Good at 3 of 4 points"; "Very Good, falls to Poor at 32"; null where nothing is graded.
export function safetyWord(curve: Curve): SafetyWord | null {
  const graded = gradedPoints(curve);
  const first = graded[0];
  const worst = worstPoint(curve);
  if (first === undefined || worst === null) return null;
  if (worst[1].numeric < first[1].numeric) {
    return {
      falls: true,
      text: `${first[1].grade}, falls to ${worst[1].grade} at ${worst[0].concurrency}`,
    };
  }
  const all = (curve.points ?? []).filter((point) => point.offline !== 'dedicated').length;
  const part = graded.length < all ? ` at ${graded.length} of ${all} points` : '';
  return { falls: false, text: `${worst[1].grade}${part}` };
}

// The share of the safety run's queries that failed; null where there was none.
export const safetyFailed = ({ safety }: Point): number | null =>
  safety?.failed == null || safety.queries == null || safety.queries === 0
    ? null
    : safety.failed / safety.queries;

// The largest resilience gap of the curve; null where no attacked prompt was asked.
export function worstGap(curve: Curve): number | null {
  const gaps = (curve.points ?? []).flatMap((point) => point.safety?.attack_gap ?? []);
  return gaps.length === 0 ? null : Math.max(...gaps);
}

// 0.062: "+6.2 points".
export const gapText = (gap: number): string =>
  `${gap > 0 ? '+' : ''}${Number((gap * 100).toFixed(1))} points`;

// "Good · 92.9 % safe · attacks +6.2 points"; '' without a safety run at the point's concurrency.
export function safetyText({ safety }: Point): string {
  if (safety == null) return '';
  return [
    safety.grade ?? 'no grade',
    safety.safe_share == null ? '' : `${percent(safety.safe_share)} safe`,
    safety.attack_gap == null ? '' : `attacks ${gapText(safety.attack_gap)}`,
    (safety.failed ?? 0) > 0 ? `${whole(safety.failed)} of ${whole(safety.queries)} failed` : '',
  ]
    .filter((one) => one !== '')
    .join(' · ');
}
