// From the curves of a model to what the charts show: filter, normalise, order, give each a look.
//
// Pure functions. A Series is a curve with the points that the selection leaves, each with its
// position on the large chart; 500 curves of 20 points take a few milliseconds.

import type { Curve, Point } from '../api/generated.ts';
import { whole } from '../base/format.ts';
import { powerOf } from './power.ts';
import { worstSafety } from './safety.ts';
import { FACETS, type Facet, type Normalisation, type Selection } from './selection.ts';

export interface Series {
  readonly curve: Curve;
  readonly points: readonly Point[];
  // Throughput as the charts show it: per system, accelerator, kW or dollar. Beside `points`.
  readonly values: readonly number[];
  // A dedicated Offline point: a ceiling, not a step.
  readonly ceiling: Point | null;
  readonly ceiling_value: number;
  // The highest of `values`.
  readonly peak: number;
  // Which look; -1: context, drawn in grey.
  readonly look: number;
  // The system's name, and what tells it from others of that name.
  readonly title: string;
}

// Eight colours are told apart; more systems than that stay grey until they are pinned.
export const LOOKS_MAX = 8;

export function facetValue(curve: Curve, facet: Facet): string {
  if (facet === 'agentic') {
    const turns = curve.agentic === true || (curve.points ?? []).some(isEndToEnd);
    return turns ? 'agentic' : 'single turn';
  }
  if (facet === 'safety') return worstSafety(curve)?.grade ?? 'not graded';
  if (facet === 'lengths') return lengthsOf(curve);
  if (facet === 'status') return curve.status ?? 'not on the board';
  const value = curve[facet];
  return value === undefined || value === null || value === '' ? 'unknown' : String(value);
}

// Spellings that differ in case alone are one value: `mi300x` and `MI300X`.
export const sameValue = (one: string, other: string): boolean => keyOf(one) === keyOf(other);
const keyOf = (value: string): string => value.toLowerCase();

// "1,000 in, 780 out": mean lengths to two digits, so that repeats of one load stand together.
function lengthsOf(curve: Curve): string {
  const point = (curve.points ?? []).find((one) => one.isl_mean != null && one.osl_mean != null);
  if (point === undefined) return 'unknown';
  const two = (value: number): string => whole(Number(value.toPrecision(2)));
  return `${two(point.isl_mean ?? 0)} in, ${two(point.osl_mean ?? 0)} out`;
}

export function passes(curve: Curve, selection: Selection, except?: Facet): boolean {
  if (selection.dataset !== '' && curve.dataset !== selection.dataset) return false;
  for (const facet of FACETS) {
    if (facet === except) continue;
    const wanted = selection.filters[facet];
    if (wanted.length === 0) continue;
    const value = facetValue(curve, facet);
    if (!wanted.some((one) => sameValue(one, value))) return false;
  }
  return isWithin(curve, selection) && matches(curve, selection.search);
}

// When a curve's results were published, else when its last point was measured; ms since 1970.
export function datedAt(curve: Curve): number | null {
  const published = instantOf(curve.published);
  if (published !== null) return published;
  const measured = (curve.points ?? []).flatMap((point) => instantOf(point.started) ?? []);
  return measured.length === 0 ? null : measured.reduce((last, one) => Math.max(last, one));
}

export function instantOf(text: string | null | undefined): number | null {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) ? at : null;
}

// Both days count whole.
function isWithin(curve: Curve, { since, until }: Selection): boolean {
  if (since === '' && until === '') return true;
  const at = datedAt(curve);
  if (at === null) return false;
  const day = new Date(at).toISOString().slice(0, 10);
  return (since === '' || day >= since) && (until === '' || day <= until);
}

// Every word occurs somewhere in what names the curve.
export function matches(curve: Curve, search: string): boolean {
  if (search.trim() === '') return true;
  const text = [
    curve.system_name,
    curve.organisation,
    curve.accelerator,
    curve.software,
    curve.submission,
    curve.division,
  ]
    .join(' ')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export interface Choice {
  readonly value: string;
  readonly curves: number;
}

// The values of a facet with how many curves each would show, given all the other filters.
export function choices(
  curves: readonly Curve[],
  selection: Selection,
  facet: Facet,
): readonly Choice[] {
  const counts = new Map<string, number>();
  const spelled = spellings(curves, facet);
  for (const curve of curves) {
    const value = spelled(curve);
    const here = passes(curve, selection, facet) ? 1 : 0;
    counts.set(value, (counts.get(value) ?? 0) + here);
  }
  const order =
    facet === 'accelerators'
      ? (x: Choice, y: Choice): number => Number(x.value) - Number(y.value)
      : (x: Choice, y: Choice): number => y.curves - x.curves || x.value.localeCompare(y.value);
  return [...counts].map(([value, number]) => ({ value, curves: number })).sort(order);
}

// Each curve's value of a facet in one spelling: the one of most curves, else of the most capitals.
export function spellings(curves: readonly Curve[], facet: Facet): (curve: Curve) => string {
  const counts = new Map<string, number>();
  for (const curve of curves) {
    const value = facetValue(curve, facet);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const out = new Map<string, string>();
  const usual = [...counts].sort(([p, n], [q, m]) => m - n || (p < q ? -1 : 1));
  for (const [value] of usual) if (!out.has(keyOf(value))) out.set(keyOf(value), value);
  return (curve) => {
    const value = facetValue(curve, facet);
    return out.get(keyOf(value)) ?? value;
  };
}

// The price that was given for an accelerator, in whatever case it is spelled.
export function givenPrice(
  prices: Selection['prices'],
  accelerator: string | null | undefined,
): number | undefined {
  if (accelerator == null) return undefined;
  if (Object.hasOwn(prices, accelerator)) return prices[accelerator];
  return Object.entries(prices).find(([name]) => sameValue(name, accelerator))?.[1];
}

export function priceOf(curve: Curve, selection: Selection): number | null {
  const count = curve.accelerators ?? 0;
  const own = givenPrice(selection.prices, curve.accelerator);
  if (own !== undefined && count > 0) return own * count;
  if (curve.price_per_hour != null) return curve.price_per_hour;
  return count > 0 && selection.price > 0 ? selection.price * count : null;
}

// What throughput is divided by; null: the curve can't be shown this way, because nobody said.
export function divisor(
  curve: Curve,
  point: Point,
  per: Normalisation,
  selection: Selection,
): number | null {
  switch (per) {
    case 'system':
      return 1;
    case 'accelerator':
      return positive(curve.accelerators);
    case 'kw':
      return powerOf(curve, point)?.kw ?? null;
    case 'usd':
      return positive(priceOf(curve, selection));
  }
}

const positive = (value: number | null | undefined): number | null =>
  value != null && value > 0 ? value : null;

export function isCeiling(point: Point): boolean {
  return (
    point.offline === 'dedicated' || (point.region === 'offline' && point.offline !== 'elected')
  );
}

// Interactivity of conversations is of whole turns, waiting for the first token included.
export const isEndToEnd = (point: Point): boolean => point.interactivity === 'end_to_end';

// The unit of interactivity, where all points shown have the same.
export function interactivityUnit(series: readonly Series[]): string {
  const turns = new Set(series.flatMap((one) => one.points.map(isEndToEnd)));
  if (!turns.has(true)) return 'tok/s per user';
  return turns.has(false) ? 'tok/s per user; agentic: end to end' : 'tok/s per user, end to end';
}

// A run at a rate: how many queries were in flight is an outcome, not a level that was set. It is a
// point, and no step of a curve.
export function isOpenLoop(point: Point): boolean {
  return (point.rate ?? 0) > 0;
}

// The measured curve that a simulated one stands beside: named by its id, or by what `assay curve`
// named it.
export type Partners = (twin: Curve) => Curve | undefined;

export function partnersOf(curves: readonly Curve[]): Partners {
  const named = new Map<string, Curve>();
  for (const curve of curves) {
    if (curve.kind !== 'measured') continue;
    if (curve.curve_id != null) named.set(curve.curve_id, curve);
    named.set(curve.id, curve);
  }
  return (twin) =>
    twin.kind === 'simulated' && twin.twin_of != null ? named.get(twin.twin_of) : undefined;
}

export function makeSeries(curves: readonly Curve[], selection: Selection): readonly Series[] {
  const out: Series[] = [];
  const partners = partnersOf(curves);
  for (const curve of curves) {
    // A simulated twin comes and goes with the measured curve that it stands beside.
    const partner = partners(curve);
    if (
      partner === undefined
        ? !passes(curve, selection)
        : !selection.twin || !(passes(partner, selection) || passes(curve, selection))
    )
      continue;
    const series = seriesOf(curve, selection);
    if (series !== null) out.push(series);
  }
  const titles = titlesOf(out.map((one) => one.curve));
  const titled = out.map((one) => ({ ...one, title: titles.get(one.curve) ?? one.title }));
  return withLooks(titled, curves, selection.pinned);
}

// One system in several rounds, precisions or hands has several curves of one name: each name with
// as few of these words as tell it from the others. What is simulated is told from what is measured
// where it is drawn.
export function titlesOf(curves: readonly Curve[]): ReadonlyMap<Curve, string> {
  const words: readonly ((curve: Curve) => string)[] = [
    (curve) => curve.precision ?? '',
    (curve) => curve.software ?? '',
    (curve) => curve.dataset ?? '',
    (curve) => curve.organisation ?? '',
    (curve) => curve.division ?? '',
    (curve) => curve.submission ?? '',
    dayOf,
    lengthsOf,
  ];
  const groups = new Map<string, Curve[]>();
  for (const curve of curves) {
    const key = `${curve.kind} ${curve.system_name}`;
    groups.set(key, [...(groups.get(key) ?? []), curve]);
  }
  const out = new Map<Curve, string>();
  for (const group of groups.values()) {
    const titles = group.map((curve) => curve.system_name);
    for (const word of words) {
      const told = new Set(titles).size;
      if (told === group.length) break;
      const longer = group.map((curve, i) =>
        [titles[i], word(curve)].filter((one) => one !== '').join(', '),
      );
      if (new Set(longer).size > told) titles.splice(0, titles.length, ...longer);
    }
    group.forEach((curve, i) => out.set(curve, titles[i] ?? curve.system_name));
  }
  return out;
}

function dayOf(curve: Curve): string {
  const at = datedAt(curve);
  return at === null ? '' : new Date(at).toISOString().slice(0, 10);
}

function seriesOf(curve: Curve, selection: Selection): Series | null {
  const points: Point[] = [];
  const values: number[] = [];
  let ceiling: Point | null = null;
  let ceilingValue = NaN;
  for (const point of curve.points ?? []) {
    const by = divisor(curve, point, selection.per, selection);
    if (by === null || point.system_tps == null) continue;
    if (isCeiling(point)) {
      ceiling = point;
      ceilingValue = point.system_tps / by;
      continue;
    }
    if (point.concurrency < selection.concurrency_min) continue;
    if (point.concurrency > selection.concurrency_max) continue;
    points.push(point);
    values.push(point.system_tps / by);
  }
  if (points.length === 0 && ceiling === null) return null;
  const peak = values.reduce((best, value) => Math.max(best, value), 0);
  const title = curve.system_name;
  return { curve, points, values, ceiling, ceiling_value: ceilingValue, peak, look: -1, title };
}

// What somebody measured is not hidden behind what a model says of larger systems.
const measuredFirst = (x: Series, y: Series): number =>
  Number(x.curve.kind === 'simulated') - Number(y.curve.kind === 'simulated');

// Looks change as little as possible: each curve has a favourite look by its place among all
// curves of the model, and takes the next free one only when that is taken.
export function withLooks(
  series: readonly Series[],
  all: readonly Curve[],
  pinned: readonly string[],
): readonly Series[] {
  const place = new Map(all.map((curve, index) => [curve.id, index]));
  const pins = new Set(pinned);
  const shown = series.filter((one) => pins.has(one.curve.id));
  const partners = partnersOf(all);
  const present = new Set(series.map((one) => one.curve.id));
  const chosen =
    shown.length > 0
      ? shown
      : series
          .filter((one) => !present.has(partners(one.curve)?.id ?? ''))
          .sort((x, y) => measuredFirst(x, y) || y.peak - x.peak)
          .slice(0, LOOKS_MAX);
  const looks = new Map<string, number>();
  const taken = new Set<number>();
  const slots = Math.max(LOOKS_MAX, chosen.length);
  for (const one of [...chosen].sort(
    (x, y) => (place.get(x.curve.id) ?? 0) - (place.get(y.curve.id) ?? 0),
  )) {
    let look = (place.get(one.curve.id) ?? 0) % slots;
    while (taken.has(look)) look = (look + 1) % slots;
    taken.add(look);
    looks.set(one.curve.id, look);
  }
  // A twin wears its partner's colour; the dashes say which of the two it is.
  const lookOf = (curve: Curve): number =>
    looks.get(partners(curve)?.id ?? '') ?? looks.get(curve.id) ?? -1;
  return series.map((one) => ({ ...one, look: lookOf(one.curve) }));
}

export interface XY {
  readonly x: number;
  readonly y: number;
}

// The best throughput at each interactivity over all systems, interactivity descending: what is
// on the envelope is beaten by no point in both.
export function envelope(points: readonly XY[]): readonly XY[] {
  const sorted = [...points]
    .filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y))
    .sort((p, q) => q.x - p.x || q.y - p.y);
  const out: XY[] = [];
  let best = -Infinity;
  for (const point of sorted) {
    if (point.y <= best) continue;
    out.push(point);
    best = point.y;
  }
  return out;
}

// How many of the filtered curves can't be normalised as asked, because a figure is missing.
export function withoutDivisor(curves: readonly Curve[], selection: Selection): number {
  return curves.filter(
    (curve) =>
      passes(curve, selection) &&
      (curve.points ?? []).length > 0 &&
      (curve.points ?? []).every(
        (point) => divisor(curve, point, selection.per, selection) === null,
      ),
  ).length;
}

export interface Undrawn {
  readonly curve: Curve;
  readonly point: Point;
  readonly why: string;
}

// Points of the filtered curves that no chart can show, because they have no throughput.
export function undrawn(curves: readonly Curve[], selection: Selection): readonly Undrawn[] {
  return curves
    .filter((curve) => passes(curve, selection))
    .flatMap((curve) =>
      (curve.points ?? [])
        .filter((point) => point.system_tps == null)
        .map((point) => ({
          curve,
          point,
          why:
            (point.failed ?? 0) > 0 && point.failed === point.issued
              ? `all ${point.failed} queries failed`
              : 'its throughput is not known',
        })),
    );
}
