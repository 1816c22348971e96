import { describe, expect, it } from 'vitest';
import type { Curve, Point } from '../api/generated.ts';
import { FIGURES, X_USUAL, Y_USUAL, axesFor, axisTitle, figureOf, unitOf } from './figures.ts';
import { DEFAULTS } from './selection.ts';
import { curveOf } from './testing_curve.ts';

const point: Point = {
  id: 'p',
  concurrency: 8,
  system_tps: 500,
  tps_per_user: 62.5,
  qps: 4,
  ttft_ms_p50: 1,
  ttft_ms_p90: 2,
  ttft_ms_p99: 3,
  tpot_ms_p50: 4,
  tpot_ms_p90: 5,
  tpot_ms_p99: 6,
  latency_ms_p50: 7,
  latency_ms_p90: 8,
  latency_ms_p99: 9,
  isl_mean: 10,
  osl_mean: 11,
  issued: 200,
  failed: 3,
};
const curve = curveOf([point], { accelerator: 'H100', accelerators: 4, power_kw: 10 });
const value = (id: string, selection = DEFAULTS, of: Point = point): number | null =>
  figureOf(id, X_USUAL).of(of, curve, selection);

describe('the figures of an axis', () => {
  it('are those of the point, each under its own name', () => {
    const direct = [...FIGURES].filter((one) => one.id in point && one.id !== 'failed');
    expect(direct.length).toBe(15);
    for (const one of direct) {
      expect(value(one.id), one.id).toBe(point[one.id as keyof Point]);
    }
    expect(value('failed')).toBe(0.015);
    expect(new Set(FIGURES.map((one) => one.id)).size).toBe(FIGURES.length);
  });

  it('are divided where they are throughput, and only there', () => {
    const each = { ...DEFAULTS, per: 'accelerator' as const };
    expect(value('system_tps', each)).toBe(125);
    expect(value('qps', each)).toBe(1);
    expect(value('tps_per_user', each)).toBe(62.5);
    expect(axisTitle(figureOf('system_tps', Y_USUAL), 'kw')).toBe('Throughput, tok/s per kW');
    expect(axisTitle(figureOf('ttft_ms_p90', Y_USUAL), 'kw')).toBe('TTFT P90');
  });

  it('have no cost without a price that was given, and no energy without a power', () => {
    expect(value('usd_per_mtok')).toBeNull();
    expect(value('usd_per_mtok', { ...DEFAULTS, price: 4.5 })).toBeCloseTo(10, 9);
    expect(value('joules_per_token')).toBe(20);
    const dark = { ...curve, power_kw: undefined } as unknown as Curve;
    expect(figureOf('joules_per_token', X_USUAL).of(point, dark, DEFAULTS)).toBeNull();
  });

  it('are units a second over latency where replies have no tokens', () => {
    const picture: Point = {
      id: 'q',
      concurrency: 2,
      unit: 'image',
      units_per_s: 31.5,
      latency_ms_p90: 64,
    };
    const usual = axesFor(X_USUAL, Y_USUAL, [picture]);
    expect([usual.x.id, usual.y.id]).toEqual(['latency_ms_p90', 'units_per_s']);
    expect(axisTitle(usual.y, 'kw')).toBe('Output, images/s per kW');
    expect(usual.y.of(picture, curve, { ...DEFAULTS, per: 'accelerator' })).toBe(7.875);
    // What the user chose stays, and tokens keep their pair.
    expect(axesFor('concurrency', Y_USUAL, [picture]).x.id).toBe('concurrency');
    expect(axesFor(X_USUAL, Y_USUAL, [picture, point]).y.id).toBe(Y_USUAL);
    expect(axesFor(X_USUAL, Y_USUAL, []).y.id).toBe(Y_USUAL);
    expect(unitOf([picture, { ...picture, unit: 'pair' }])).toBe('unit');
    expect(unitOf([])).toBeNull();
  });

  it('are absent where the point does not have them', () => {
    const bare: Point = { id: 'p', concurrency: 1 };
    for (const one of FIGURES) {
      if (one.id !== 'concurrency') expect(value(one.id, DEFAULTS, bare), one.id).toBeNull();
    }
  });

  it('fall back on the usual one for a name that is not known', () => {
    expect(figureOf('nothing', Y_USUAL).id).toBe(Y_USUAL);
  });
});
