import { describe, expect, it } from 'vitest';
import {
  DEFAULTS,
  FACETS,
  type Selection,
  annotatedWith,
  readSelection,
  writeSelection,
} from './selection.ts';

const full: Selection = {
  ...DEFAULTS,
  view: 'cost',
  model: 'a/b & c=d?#é',
  dataset: 'x',
  search: '50% <b>',
  filters: { ...DEFAULTS.filters, accelerator: ['B200', 'H200 + L40S'], kind: ['simulated'] },
  concurrency_min: 10,
  concurrency_max: 512,
  since: '2026-01-31',
  until: '2026-11-20',
  pinned: ['c1', 'c2'],
  columns: ['kw', 'division'],
  per: 'kw',
  x: 'linear',
  y: 'log',
  horizontal: 'ttft_ms_p90',
  vertical: 'qps',
  x_from: 1.5,
  x_to: 20,
  y_from: 100,
  y_to: 4000,
  split: 'accelerator',
  envelope: false,
  smooth: true,
  twin: false,
  sort: 'cost',
  slo_tps_per_user: 42.5,
  slo_ttft_ms: 750,
  users: 12345,
  price: 4.76,
  prices: { 'a:b': 1.5, B200: 0 },
  bill: { capex: 30000, years: 4, growth: -0.25 },
  derate: 0.7,
  headroom: 0.2,
  a: 'c1',
  b: 'c2',
  safety_margin: 2.5,
  annotations: { p1: 'here: KV full', p2: 'b & c' },
  run: 'p1',
  submission: 'sub-1',
  sheet: 'd0',
  use_purpose: 'research',
  use_commercial: 'no',
  use_nonprofit: 'yes',
  use_methods: 'apply',
  use_region: 'DE',
  from_ms: 12.25,
  to_ms: 99,
  theme: 'dark',
};

describe('the address', () => {
  it('gives back every selection that it was made from', () => {
    expect(readSelection(writeSelection(full))).toEqual(full);
    expect(readSelection(writeSelection(DEFAULTS))).toEqual(DEFAULTS);
  });

  it('is short where everything is as usual', () => {
    expect(writeSelection(DEFAULTS)).toBe('#/explore');
  });

  it('has a word for each member of the selection', () => {
    for (const key of Object.keys(DEFAULTS) as (keyof Selection)[]) {
      const address = writeSelection({ ...DEFAULTS, [key]: full[key] });
      expect(address, key).not.toBe(writeSelection(DEFAULTS));
      expect(readSelection(address)[key], key).toEqual(full[key]);
    }
  });

  it('opens whatever it is given', () => {
    for (const hash of ['', '#', '#/', '#/nowhere?x=9&per=tons&users=-4&price=abc', '#%%%?&&==']) {
      const selection = readSelection(hash);
      expect(selection.view).toBe('explore');
      expect(selection.per).toBe('system');
      expect(selection.users).toBe(DEFAULTS.users);
      expect(FACETS.every((facet) => selection.filters[facet].length === 0)).toBe(true);
    }
  });

  it('takes annotations away, cuts long ones, and keeps at most twenty', () => {
    const one = annotatedWith({}, 'p', ` ${'x'.repeat(200)}`);
    expect(one['p']).toHaveLength(80);
    expect(annotatedWith(one, 'p', ' ')).toEqual({});
    const many = `#/explore?${Array.from({ length: 30 }, (_, i) => `note=p${i}:a`).join('&')}`;
    expect(Object.keys(readSelection(many).annotations)).toHaveLength(20);
    expect(readSelection('#/explore?note=nothing&note=:x').annotations).toEqual({});
  });

  it('keeps numbers of an address in their limits', () => {
    const selection = readSelection('#/cost?derate=0&headroom=5&users=0.2&slo_ttft_ms=Infinity');
    expect(selection.derate).toBe(0.01);
    expect(selection.headroom).toBe(0.95);
    expect(selection.users).toBe(1);
    expect(selection.slo_ttft_ms).toBe(Infinity);
  });
});
