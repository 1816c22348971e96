// Total cost: what one system costs an hour and a fleet over the years, as `assay decide` has it
// (src/judging/decide/cost.h). Every input is the user's; what was not given is left out of the
// sum or is neutral, never a guess.
//
//   bought       = capex × accelerators × crf / 8760, crf = r(1+r)^n / ((1+r)^n − 1), 1/n without r
//   of a system  = rent or bought + kW × PUE × $/kWh + (12 × space a month + software) / 8760
//   of the fleet = systems × of a system + staff / 8760

import type { Curve, Point } from '../api/generated.ts';
import { priceOf } from './curves.ts';
import { powerOf } from './power.ts';
import type { Bill, BillKey, Selection } from './selection.ts';

export const HOURS_PER_YEAR = 8760;

export interface Hourly {
  // null: neither rented nor bought.
  readonly usd: number | null;
  // What was asked for and is not known of this system, so that it is not in the sum.
  readonly without: readonly string[];
}

export function capitalRecovery(interest: number, years: number): number {
  if (interest <= 0) return 1 / years;
  const grown = (1 + interest) ** years;
  return (interest * grown) / (grown - 1);
}

export function hourlyOf(curve: Curve, point: Point | null, selection: Selection): Hourly {
  const given = (key: BillKey): number => selection.bill[key] ?? 0;
  const base = priceOf(curve, selection) ?? bought(curve, selection);
  if (base === null) return { usd: null, without: [] };
  const perYear = 12 * given('space_per_month') + given('software_per_year');
  const rest = base + perYear / HOURS_PER_YEAR;
  if (given('usd_per_kwh') === 0) return { usd: rest, without: [] };
  const power = powerOf(curve, point);
  if (power === null) return { usd: rest, without: ['power'] };
  return { usd: rest + power.kw * (selection.bill.pue ?? 1) * given('usd_per_kwh'), without: [] };
}

function bought(curve: Curve, { bill }: Selection): number | null {
  const count = curve.accelerators ?? 0;
  if (count <= 0 || bill.capex === undefined || bill.years === undefined) return null;
  const yearly = bill.capex * count * capitalRecovery(bill.interest ?? 0, bill.years);
  return yearly / HOURS_PER_YEAR;
}

export const fleetHourly = (systems: number, each: number, { bill }: Selection): number =>
  systems * each + (bill.staff_per_year ?? 0) / HOURS_PER_YEAR;

// Over the years, of which the last may be a part; users grow from year to year, systems with them.
export function totalOf(
  each: number,
  systemsFor: (users: number) => number,
  selection: Selection,
): number | null {
  const { bill } = selection;
  if (bill.years === undefined) return null;
  let out = 0;
  let users = selection.users;
  for (let left = bill.years; left > 1e-9; left -= 1) {
    const hours = HOURS_PER_YEAR * Math.min(1, left);
    out += fleetHourly(systemsFor(users), each, selection) * hours;
    users *= 1 + (bill.growth ?? 0);
  }
  return Number.isFinite(out) ? out : null;
}

export interface Entry {
  readonly key: BillKey;
  readonly text: string;
  readonly unit: string;
  // What the field shows for a stored value.
  readonly scale: number;
}

export const ENTRIES: readonly Entry[] = [
  { key: 'capex', text: 'An accelerator bought', unit: '$', scale: 1 },
  { key: 'years', text: 'Paid over', unit: 'years', scale: 1 },
  { key: 'interest', text: 'Interest', unit: '% a year', scale: 100 },
  { key: 'usd_per_kwh', text: 'Energy', unit: '$/kWh', scale: 1 },
  { key: 'pue', text: 'PUE', unit: '× its power', scale: 1 },
  { key: 'space_per_month', text: 'Space of a system', unit: '$/month', scale: 1 },
  { key: 'software_per_year', text: 'Software of a system', unit: '$/year', scale: 1 },
  { key: 'staff_per_year', text: 'Staff, of all', unit: '$/year', scale: 1 },
  { key: 'spare', text: 'Spare systems', unit: 'systems', scale: 1 },
  { key: 'utilisation', text: 'Tokens sold over the day', unit: '%', scale: 100 },
  { key: 'growth', text: 'Users grow', unit: '% a year', scale: 100 },
];

// Which of them are in the sum, and what keeps one out.
export function summed(bill: Bill, rented: boolean): string {
  const has = (key: BillKey): boolean => bill[key] !== undefined;
  const parts = ENTRIES.filter(({ key }) => has(key)).map(({ text }) => text.toLowerCase());
  if (parts.length === 0) return '';
  const notes = [`In the sum: ${parts.join(', ')}.`];
  if (has('capex') && !has('years')) notes.push('A purchase needs the years that it is paid over.');
  if (has('capex') && rented)
    notes.push('A price by the hour was given: it stands, and no purchase.');
  if (has('pue') && !has('usd_per_kwh')) notes.push('PUE counts with a price of energy.');
  if (!has('years')) notes.push('The total needs a number of years.');
  if (has('growth') && !has('years')) notes.push('Growth shows in the total alone.');
  return notes.join(' ');
}
