import { describe, expect, it } from 'vitest';
import type { Point } from '../api/generated.ts';
import { capitalRecovery, hourlyOf, summed } from './bill.ts';
import { costOf } from './cost.ts';
import { type Bill, DEFAULTS, type Selection, readSelection } from './selection.ts';
import { curveOf } from './testing_curve.ts';

const point: Point = {
  id: 'p',
  concurrency: 25,
  system_tps: 750,
  tps_per_user: 30,
  ttft_ms_p90: 500,
};
const curve = curveOf([point], { accelerator: 'H100', accelerators: 8, power_kw: 10 });
const with_ = (bill: Bill, more: Partial<Selection> = {}): Selection => ({
  ...DEFAULTS,
  slo_tps_per_user: 30,
  slo_ttft_ms: 1000,
  users: 100,
  bill,
  ...more,
});

describe('a total cost', () => {
  it('recovers a purchase over its years', () => {
    expect(capitalRecovery(0, 4)).toBe(0.25);
    // An annuity of 100,000 at 8 % over 5 years: 25,045.65 a year.
    expect(100000 * capitalRecovery(0.08, 5)).toBeCloseTo(25045.65, 2);
  });

  it('is the sum of what was given', () => {
    // 8 × 8,760 $ over 2 years is 4 $/h; 10 kW × 1.3 × 0.1 $ is 1.3; 730 $ a month is 1; 8,760 $ 1.
    const bill = {
      capex: 8760,
      years: 2,
      usd_per_kwh: 0.1,
      pue: 1.3,
      space_per_month: 730,
      software_per_year: 8760,
    };
    expect(hourlyOf(curve, point, with_(bill)).usd).toBeCloseTo(7.3, 10);
    const cost = costOf(curve, with_({ ...bill, staff_per_year: 87600, spare: 1 }));
    expect(cost.replicas).toBe(5);
    expect(cost.usd_per_hour).toBeCloseTo(5 * 7.3 + 10, 10);
    expect(cost.usd_total).toBeCloseTo((5 * 7.3 + 10) * 8760 * 2, 4);
    const half = costOf(curve, with_({ ...bill, utilisation: 0.5 }));
    const all = costOf(curve, with_(bill));
    expect(half.usd_per_mtok).toBeCloseTo(2 * (all.usd_per_mtok ?? NaN), 10);
  });

  it('takes systems along as users grow, and a part of the last year', () => {
    const grown = costOf(curve, with_({ years: 2.5, growth: 1 }, { price: 1 }));
    // 100, 200 and 400 users on systems of 25 at 8 $/h.
    expect(grown.usd_total).toBeCloseTo(8 * 8760 * (4 + 8 + 16 / 2), 4);
  });

  it('invents nothing', () => {
    expect(hourlyOf(curve, point, with_({ usd_per_kwh: 1, staff_per_year: 5 })).usd).toBeNull();
    expect(hourlyOf(curve, point, with_({ capex: 5 })).usd).toBeNull();
    expect(costOf(curve, with_({ years: 3 })).usd_total).toBeNull();
    expect(costOf(curve, with_({}, { price: 1 })).usd_total).toBeNull();
    const { power_kw: _, ...dark } = curve;
    const unknown = costOf(dark, with_({ usd_per_kwh: 1 }, { price: 1 }));
    expect(unknown.without).toEqual(['power']);
    expect(unknown.usd_per_hour).toBe(4 * 8);
    // A rent that was given stands: nothing is both rented and bought.
    expect(hourlyOf(curve, point, with_({ capex: 1e6, years: 1 }, { price: 1 })).usd).toBe(8);
  });

  it('says what is in it, and what is missing', () => {
    expect(summed({}, false)).toBe('');
    expect(summed({ capex: 1 }, false)).toContain('A purchase needs the years');
    expect(summed({ capex: 1, years: 2 }, true)).toContain('no purchase');
    expect(summed({ years: 2, pue: 1.2 }, false)).toContain('PUE counts with a price of energy');
  });

  it('reads from an address only what it knows, within its limits', () => {
    const read = readSelection('#/cost?bill=capex:5&bill=pue:99&bill=toString:1&bill=years:x');
    expect(read.bill).toEqual({ capex: 5, pue: 5 });
  });
});
