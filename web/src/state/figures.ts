// The figures of a point that an axis can show, each with its unit, how it is written, and which
// way is better. Throughput is divided as the selection says: per system, accelerator, kW or $/h.

import type { Curve, Point } from '../api/generated.ts';
import { dateText, duration, number3, percent, usd, whole } from '../base/format.ts';
import { divisor, instantOf, priceOf } from './curves.ts';
import { powerOf } from './power.ts';
import { gapText, safetyFailed } from './safety.ts';
import type { Normalisation, Selection } from './selection.ts';

export interface Figure {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower' | null;
  readonly text: (value: number) => string;
  // Throughput, which `per` divides.
  readonly divided: boolean;
  // A date, for the horizontal axis alone.
  readonly time?: true;
  // null where the point does not have it.
  readonly of: (point: Point, curve: Curve, selection: Selection) => number | null;
}

type NumberKey = {
  [K in keyof Point]-?: number extends Point[K] ? K : never;
}[keyof Point];

const plain = (
  id: NumberKey,
  title: string,
  unit: string,
  better: Figure['better'],
  text: Figure['text'] = number3,
): Figure => ({
  id,
  title,
  unit,
  better,
  text,
  divided: false,
  of: (point) => (point[id] as number | null | undefined) ?? null,
});

const rate = (id: 'system_tps' | 'qps' | 'units_per_s', title: string, unit: string): Figure => ({
  ...plain(id, title, unit, 'higher'),
  divided: true,
  of: (point, curve, selection) => {
    const by = divisor(curve, point, selection.per, selection);
    const value = point[id];
    return by === null || value == null ? null : value / by;
  },
});

const times = (series: 'ttft' | 'tpot' | 'latency', title: string): readonly Figure[] =>
  ([50, 90, 99] as const).map((p) =>
    plain(`${series}_ms_p${p}`, `${title} P${p}`, '', 'lower', duration),
  );

const perToken = (
  id: string,
  title: string,
  unit: string,
  text: Figure['text'],
  each: (tps: number, point: Point, curve: Curve, selection: Selection) => number | null,
): Figure => ({
  id,
  title,
  unit,
  better: 'lower',
  text,
  divided: false,
  of: (point, curve, selection) => {
    const tps = point.system_tps ?? 0;
    return tps > 0 ? each(tps, point, curve, selection) : null;
  },
});

const safety = (
  id: 'safe_share' | 'attack_gap' | 'safety_failed',
  title: string,
  unit: string,
  better: Figure['better'],
  text: Figure['text'],
): Figure => ({
  ...plain('concurrency', title, unit, better, text),
  id,
  of: (point) => (id === 'safety_failed' ? safetyFailed(point) : (point.safety?.[id] ?? null)),
});

const date = (id: 'measured' | 'published', of: Figure['of']): Figure => ({
  ...plain('concurrency', `Date ${id}`, '', null, dateText),
  id,
  time: true,
  of,
});

export const FIGURES: readonly Figure[] = [
  plain('tps_per_user', 'Interactivity', 'tok/s per user', 'higher'),
  rate('system_tps', 'Throughput', 'tok/s'),
  plain('concurrency', 'Concurrency', 'queries at once', null, (value) =>
    Number.isInteger(value) ? whole(value) : number3(value),
  ),
  rate('qps', 'Queries', 'queries/s'),
  rate('units_per_s', 'Output', 'units/s'),
  ...times('ttft', 'TTFT'),
  ...times('tpot', 'TPOT'),
  ...times('latency', 'Latency'),
  perToken('usd_per_mtok', 'Cost', '$ per million tokens', usd, (tps, _, curve, selection) => {
    const price = priceOf(curve, selection);
    return price === null ? null : (1e6 * price) / (3600 * tps);
  }),
  perToken('joules_per_token', 'Energy', 'J per token', number3, (tps, point, curve) => {
    const power = powerOf(curve, point);
    return power === null ? null : (power.kw * 1000) / tps;
  }),
  plain('isl_mean', 'Input length', 'tokens, mean', null),
  plain('osl_mean', 'Output length', 'tokens, mean', null),
  {
    ...plain('failed', 'Failed', 'share of queries', 'lower', percent),
    of: (point) =>
      point.failed == null || point.issued == null || point.issued === 0
        ? null
        : point.failed / point.issued,
  },
  safety('safe_share', 'Safe replies', "share, by Assay's own rules", 'higher', percent),
  safety('safety_failed', 'Failed safety queries', 'share of queries', 'lower', percent),
  safety('attack_gap', 'Attack gap', 'unsafe under attack, beside base', 'lower', gapText),
  date('measured', (point) => instantOf(point.started)),
  date('published', (_, curve) => instantOf(curve.published)),
];

export const X_USUAL = 'tps_per_user';
export const Y_USUAL = 'system_tps';

// What the points' replies hold instead of tokens: "image"; "" where any has tokens, "unit" where
// units differ, null where there are no points.
export function unitOf(points: readonly Point[]): string | null {
  const units = new Set(points.map((point) => point.unit ?? ''));
  if (units.size === 0) return null;
  if (units.has('')) return '';
  return units.size === 1 ? ([...units][0] ?? '') : 'unit';
}

// "31.2 images/s", of a point whose replies are no tokens.
export const outputText = (point: Point): string =>
  `${number3(point.units_per_s)} ${point.unit ?? 'unit'}s/s`;

// The figures on the large chart's axes. Where no point has tokens, units a second over the latency
// of a reply stand for the usual pair.
export function axesFor(
  horizontal: string,
  vertical: string,
  points: readonly Point[],
): { readonly x: Figure; readonly y: Figure } {
  const unit = unitOf(points) ?? '';
  const usual = horizontal === X_USUAL && vertical === Y_USUAL;
  const named = (figure: Figure): Figure =>
    figure.id === 'units_per_s' && unit !== '' ? { ...figure, unit: `${unit}s/s` } : figure;
  if (usual && unit !== '') {
    return { x: figureOf('latency_ms_p90', X_USUAL), y: named(figureOf('units_per_s', Y_USUAL)) };
  }
  return { x: named(figureOf(horizontal, X_USUAL)), y: named(figureOf(vertical, Y_USUAL)) };
}

const PER: Readonly<Record<Normalisation, string>> = {
  system: '',
  accelerator: ' per accelerator',
  kw: ' per kW',
  usd: ' per $/h',
};

export function figureOf(id: string, usual: string): Figure {
  const fits = (one: Figure): boolean =>
    one.id === id && (usual !== Y_USUAL || one.time === undefined);
  const found = FIGURES.find(fits) ?? FIGURES.find((one) => one.id === usual);
  if (found === undefined) throw new Error(`no figure ${id}`);
  return found;
}

// "Throughput, tok/s per kW"; "TTFT P90".
export function axisTitle(figure: Figure, per: Normalisation): string {
  const unit = figure.unit + (figure.divided ? PER[per] : '');
  return unit === '' ? figure.title : `${figure.title}, ${unit}`;
}
