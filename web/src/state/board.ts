// What the review board says of curves: the state of their submission, and the day on which its
// cohort was published.

import type { Curve, Submission } from '../api/generated.ts';

export function withBoard(
  curves: readonly Curve[],
  submissions: readonly Submission[],
): readonly Curve[] {
  const known = new Map(submissions.map((one) => [one.id, one]));
  return curves.map((curve) => {
    const found = known.get(curve.submission ?? '');
    if (found === undefined) return curve;
    const day = found.state === 'published' ? found.cohort_date : null;
    return { ...curve, status: found.state, published: curve.published ?? day ?? null };
  });
}
