// What goes on now, as the server tells it: runs, and the curves that they are points of. Pure.

import type { Curve, LiveCurve, LiveRun, ModelList } from '../api/generated.ts';
import { divisor, type Series } from './curves.ts';
import type { Selection } from './selection.ts';

export interface Live {
  readonly runs: ReadonlyMap<string, LiveRun>;
  readonly curves: ReadonlyMap<string, LiveCurve>;
}

export const NOTHING_LIVE: Live = { runs: new Map(), curves: new Map() };

function changed<T>(map: ReadonlyMap<string, T>, key: string, value: T | null): Map<string, T> {
  const out = new Map(map);
  if (value === null) out.delete(key);
  else out.set(key, value);
  return out;
}

export function withRun(live: Live, run: LiveRun): Live {
  return { ...live, runs: changed(live.runs, run.path, run.ended === true ? null : run) };
}

export function withCurve(live: Live, curve: LiveCurve): Live {
  const over = curve.ended === true;
  return { ...live, curves: changed(live.curves, curve.path, over ? null : curve) };
}

// A point that is being measured, at what it comes to so far.
export interface LiveSpot {
  readonly name: string;
  readonly concurrency: number | null;
  readonly tps_per_user: number | null;
  readonly ttft_ms_p90: number | null;
  // Throughput as the charts show it.
  readonly value: number;
  // The look of the stored curve that it will be a point of; -1: none is stored yet.
  readonly look: number;
}

export function liveSpots(
  live: Live,
  series: readonly Series[],
  curves: readonly Curve[],
  selection: Selection,
): readonly LiveSpot[] {
  const out: LiveSpot[] = [];
  for (const run of live.runs.values()) {
    if ((run.model ?? '') !== selection.model || run.system_tps == null) continue;
    const stored = run.curve == null ? undefined : curves.find((one) => one.path === run.curve);
    const shown = series.find((one) => one.curve === stored);
    // Filtered away with its curve.
    if (stored !== undefined && shown === undefined) continue;
    const point = { id: '', concurrency: run.concurrency ?? 0 };
    const by =
      stored === undefined
        ? selection.per === 'system'
          ? 1
          : null
        : divisor(stored, point, selection.per, selection);
    if (by === null) continue;
    out.push({
      name: run.concurrency == null ? 'running' : `running: ${run.concurrency}`,
      concurrency: run.concurrency ?? null,
      tps_per_user: run.tps_per_user ?? null,
      ttft_ms_p90: run.ttft_ms_p90 ?? null,
      value: run.system_tps / by,
      look: shown?.look ?? -1,
    });
  }
  return out;
}

// The models that have curves, and those that are about to have one.
export function modelsWith(live: Live, models: ModelList['items']): ModelList['items'] {
  const known = new Set(models.map((one) => one.name));
  const out = [...models];
  for (const run of live.runs.values()) {
    const name = run.model ?? '';
    if (name === '' || known.has(name)) continue;
    known.add(name);
    out.push({ name, curves: 0, points: 0 });
  }
  return out;
}
