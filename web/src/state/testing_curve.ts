// A measured curve for tests: what a test does not name is the same in all of them.
import type { Curve, Point } from '../api/generated.ts';

export const curveOf = (points: readonly Point[], more: Partial<Curve> = {}): Curve => ({
  id: 'c',
  system: 's',
  system_name: 'S',
  model: 'm',
  dataset: 'd',
  kind: 'measured',
  accuracy: 'passed',
  points_total: points.length,
  points: [...points],
  ...more,
});
