import { describe, expect, it } from 'vitest';
import type { Curve, LiveRun } from '../api/generated.ts';
import { makeSeries } from './curves.ts';
import { NOTHING_LIVE, liveSpots, modelsWith, withCurve, withRun } from './live.ts';
import { DEFAULTS } from './selection.ts';

const run: LiveRun = {
  path: '/c/points/r8',
  curve: '/c',
  model: 'm',
  concurrency: 8,
  system_tps: 800,
  tps_per_user: 100,
};
const curve: Curve = {
  id: 'x',
  system: 's',
  system_name: 'S',
  model: 'm',
  dataset: 'd',
  kind: 'measured',
  accuracy: 'unknown',
  accelerators: 8,
  path: '/c',
  points_total: 1,
  points: [{ id: 'p', concurrency: 1, system_tps: 150, tps_per_user: 150 }],
};
const selection = { ...DEFAULTS, model: 'm' };

describe('live', () => {
  it('forgets what ended', () => {
    const live = withRun(NOTHING_LIVE, run);
    expect(live.runs.size).toBe(1);
    expect(withRun(live, { ...run, ended: true }).runs.size).toBe(0);
    const told = { path: '/c', points_done: 1, points: 2 };
    expect(withCurve(live, told).curves.get('/c')).toEqual(told);
    expect(withCurve(withCurve(live, told), { ...told, ended: true }).curves.size).toBe(0);
  });

  it('has a model to choose before anything is stored', () => {
    const live = withRun(NOTHING_LIVE, run);
    expect(modelsWith(live, []).map((one) => one.name)).toEqual(['m']);
    expect(modelsWith(live, [{ name: 'm', curves: 1, points: 3 }])).toHaveLength(1);
  });

  it('shows a running point in the look of its curve, normalised alike', () => {
    const live = withRun(NOTHING_LIVE, run);
    expect(liveSpots(live, [], [], selection)[0]).toMatchObject({ value: 800, look: -1 });
    const series = makeSeries([curve], selection);
    expect(liveSpots(live, series, [curve], selection)[0]?.look).toBe(series[0]?.look);
    const each = { ...selection, per: 'accelerator' as const };
    expect(liveSpots(live, makeSeries([curve], each), [curve], each)[0]?.value).toBe(100);
    expect(liveSpots(live, [], [], each)).toEqual([]);
    expect(liveSpots(live, [], [curve], selection)).toEqual([]);
    expect(liveSpots(live, [], [], { ...selection, model: 'other' })).toEqual([]);
  });
});
