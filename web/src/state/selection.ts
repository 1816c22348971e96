// What is selected lives in the page's address, and nowhere else: to share is to copy the
// address.
//
// The address's fragment is used (#/explore?model=…), because it survives on any static host and
// on a page opened from disk. Defaults are left out, so a plain view has a short address. Reading
// is forgiving (an old or mistyped link still opens), writing is canonical: read(write(s)) = s.

export const VIEWS = ['explore', 'cost', 'compare', 'run', 'events', 'data', 'review'] as const;
export type View = (typeof VIEWS)[number];

export const FACETS = [
  'accelerator',
  'accelerators',
  'software',
  'division',
  'availability',
  'organisation',
  'kind',
  'accuracy',
  'safety',
  'agentic',
  'lengths',
  'precision',
  'status',
] as const;
export type Facet = (typeof FACETS)[number];

export const NORMALISATIONS = ['system', 'accelerator', 'kw', 'usd'] as const;
export type Normalisation = (typeof NORMALISATIONS)[number];

export const SORTS = ['name', 'peak', 'interactivity', 'points', 'users', 'cost'] as const;
export type Sort = (typeof SORTS)[number];

// What a total cost is made of, beside a rent: each with its least and most. None has a default.
export const BILL = {
  capex: [0, 1e9],
  years: [0.1, 30],
  interest: [0, 1],
  growth: [-0.9, 10],
  spare: [0, 1e6],
  utilisation: [0.01, 1],
  usd_per_kwh: [0, 100],
  pue: [1, 5],
  space_per_month: [0, 1e9],
  software_per_year: [0, 1e9],
  staff_per_year: [0, 1e12],
} as const;
export type BillKey = keyof typeof BILL;
export type Bill = Readonly<Partial<Record<BillKey, number>>>;

export interface Selection {
  readonly view: View;
  readonly model: string;
  readonly dataset: string;
  readonly search: string;
  readonly filters: Readonly<Record<Facet, readonly string[]>>;
  // The concurrency range that every chart keeps to; 0 and Infinity: all.
  readonly concurrency_min: number;
  readonly concurrency_max: number;
  // Days, '2026-11-20': only what is dated in between; '': no limit.
  readonly since: string;
  readonly until: string;
  // Curves in colour; none: the strongest few.
  readonly pinned: readonly string[];
  // What a reader wrote at a point, by the point's id.
  readonly annotations: Readonly<Record<string, string>>;
  // Columns of the systems table that are shown or hidden against the usual choice.
  readonly columns: readonly string[];
  readonly per: Normalisation;
  readonly x: 'log' | 'linear';
  readonly y: 'log' | 'linear';
  // The figures on the large chart's axes (state/figures.ts), and the part that is looked at: none
  // where a range is empty.
  readonly horizontal: string;
  readonly vertical: string;
  readonly x_from: number;
  readonly x_to: number;
  readonly y_from: number;
  readonly y_to: number;
  // Small multiples: a panel for each value of this facet; '' for one chart.
  readonly split: Facet | '';
  readonly envelope: boolean;
  readonly smooth: boolean;
  readonly twin: boolean;
  readonly sort: Sort;
  readonly slo_tps_per_user: number;
  readonly slo_ttft_ms: number;
  // 0: not given.
  readonly users: number;
  // US dollars for one accelerator and one hour, 0 where the user gave none; by accelerator model
  // where they differ.
  readonly price: number;
  readonly prices: Readonly<Record<string, number>>;
  // What the user gave of a total cost; nothing else is in it.
  readonly bill: Bill;
  // The share of the measured throughput that production reaches, and what is held in reserve.
  readonly derate: number;
  readonly headroom: number;
  readonly a: string;
  readonly b: string;
  // How much less safe B may be and still pass for as safe, percentage points; 0: not given.
  readonly safety_margin: number;
  readonly run: string;
  readonly submission: string;
  // The dataset that is shown by its description, and the use that is asked about; '': not stated.
  readonly sheet: string;
  readonly use_purpose: string;
  readonly use_commercial: string;
  readonly use_nonprofit: string;
  readonly use_methods: string;
  readonly use_region: string;
  // The window of the event view, ms.
  readonly from_ms: number;
  readonly to_ms: number;
  readonly theme: 'system' | 'light' | 'dark';
}

const NO_FILTERS = Object.fromEntries(
  FACETS.map((facet) => [facet, []]),
) as unknown as Selection['filters'];

export const DEFAULTS: Selection = {
  view: 'explore',
  model: '',
  dataset: '',
  search: '',
  filters: NO_FILTERS,
  concurrency_min: 0,
  concurrency_max: Infinity,
  since: '',
  until: '',
  pinned: [],
  annotations: {},
  columns: [],
  per: 'system',
  x: 'log',
  y: 'linear',
  horizontal: 'tps_per_user',
  vertical: 'system_tps',
  x_from: 0,
  x_to: 0,
  y_from: 0,
  y_to: 0,
  split: '',
  envelope: true,
  smooth: false,
  twin: true,
  sort: 'peak',
  slo_tps_per_user: 30,
  slo_ttft_ms: 2000,
  users: 0,
  price: 0,
  prices: {},
  bill: {},
  derate: 1,
  headroom: 0,
  a: '',
  b: '',
  safety_margin: 0,
  run: '',
  submission: '',
  sheet: '',
  use_purpose: '',
  use_commercial: '',
  use_nonprofit: '',
  use_methods: '',
  use_region: '',
  from_ms: 0,
  to_ms: 0,
  theme: 'system',
};

type Plain = Exclude<
  keyof Selection,
  'view' | 'filters' | 'pinned' | 'annotations' | 'columns' | 'prices' | 'bill'
>;
const PLAIN: readonly Plain[] = [
  'model',
  'dataset',
  'search',
  'concurrency_min',
  'concurrency_max',
  'since',
  'until',
  'per',
  'x',
  'y',
  'horizontal',
  'vertical',
  'x_from',
  'x_to',
  'y_from',
  'y_to',
  'split',
  'envelope',
  'smooth',
  'twin',
  'sort',
  'slo_tps_per_user',
  'slo_ttft_ms',
  'users',
  'price',
  'derate',
  'headroom',
  'a',
  'b',
  'safety_margin',
  'run',
  'submission',
  'sheet',
  'use_purpose',
  'use_commercial',
  'use_nonprofit',
  'use_methods',
  'use_region',
  'from_ms',
  'to_ms',
  'theme',
];

const CHOICES: Partial<Record<Plain, readonly string[]>> = {
  per: NORMALISATIONS,
  sort: SORTS,
  split: ['', ...FACETS],
  x: ['log', 'linear'],
  y: ['log', 'linear'],
  theme: ['system', 'light', 'dark'],
};

// The least and the most that a number of an address may be.
const LIMITS: Partial<Record<Plain, readonly [number, number]>> = {
  derate: [0.01, 1],
  headroom: [0, 0.95],
  price: [0, 1e6],
  users: [1, 1e9],
  safety_margin: [0, 100],
};

export function writeSelection(selection: Selection): string {
  const out = new URLSearchParams();
  for (const key of PLAIN) {
    if (selection[key] !== DEFAULTS[key]) out.set(key, String(selection[key]));
  }
  for (const facet of FACETS) {
    for (const value of selection.filters[facet]) out.append(facet, value);
  }
  for (const id of selection.pinned) out.append('pin', id);
  for (const id of selection.columns) out.append('column', id);
  for (const [id, words] of Object.entries(selection.annotations)) {
    out.append('note', `${id}:${words}`);
  }
  for (const [name, price] of Object.entries(selection.prices)) {
    out.append('price_of', `${price}:${name}`);
  }
  for (const [key, value] of Object.entries(selection.bill)) out.append('bill', `${key}:${value}`);
  const text = out.toString();
  return `#/${selection.view}${text === '' ? '' : `?${text}`}`;
}

export function readSelection(hash: string): Selection {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const given = new URLSearchParams(query);
  const out: Record<string, unknown> = { ...DEFAULTS };
  out['view'] = VIEWS.find((view) => view === path) ?? DEFAULTS.view;
  for (const key of PLAIN) {
    const text = given.get(key);
    if (text === null) continue;
    const value = readValue(key, text);
    if (value !== undefined) out[key] = value;
  }
  out['filters'] = Object.fromEntries(FACETS.map((facet) => [facet, given.getAll(facet)]));
  out['pinned'] = given.getAll('pin');
  out['columns'] = given.getAll('column');
  out['annotations'] = given.getAll('note').reduce<Selection['annotations']>((all, entry) => {
    const cut = entry.indexOf(':');
    return cut > 0 ? annotatedWith(all, entry.slice(0, cut), entry.slice(cut + 1)) : all;
  }, {});
  const prices: Record<string, number> = {};
  for (const entry of given.getAll('price_of')) {
    const cut = entry.indexOf(':');
    const price = Number(entry.slice(0, cut));
    if (cut > 0 && Number.isFinite(price) && price >= 0) prices[entry.slice(cut + 1)] = price;
  }
  out['prices'] = prices;
  out['bill'] = readBill(given.getAll('bill'));
  return out as unknown as Selection;
}

function readBill(entries: readonly string[]): Bill {
  const out: Partial<Record<BillKey, number>> = {};
  for (const entry of entries) {
    const [key = '', text = ''] = entry.split(':');
    const value = Number(text);
    if (!Object.hasOwn(BILL, key) || text.trim() === '' || !Number.isFinite(value)) continue;
    const [low, high] = BILL[key as BillKey];
    out[key as BillKey] = Math.min(high, Math.max(low, value));
  }
  return out;
}

function readValue(key: Plain, text: string): unknown {
  const usual = DEFAULTS[key];
  if (typeof usual === 'boolean')
    return text === 'true' ? true : text === 'false' ? false : undefined;
  if (typeof usual === 'number') {
    const value = Number(text);
    if (text.trim() === '' || Number.isNaN(value) || value < 0) return undefined;
    const [low, high] = LIMITS[key] ?? [0, Infinity];
    return Math.min(high, Math.max(low, value));
  }
  const choices = CHOICES[key];
  if (key === 'since' || key === 'until') return isDay(text) ? text : undefined;
  return choices === undefined || choices.includes(text) ? text : undefined;
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(Date.parse(text));

export const ANNOTATION_MAX = 80;
// An address stays one that can be sent.
const ANNOTATIONS_MAX = 20;

// No words take the annotation away.
export function annotatedWith(
  all: Selection['annotations'],
  id: string,
  words: string,
): Selection['annotations'] {
  const { [id]: _, ...others } = all;
  const text = words.trim().slice(0, ANNOTATION_MAX);
  const full = Object.keys(others).length >= ANNOTATIONS_MAX;
  return text === '' || full ? others : { ...others, [id]: text };
}

// Whether a figure in sight is divided by a power.
export const showsPower = ({ per, horizontal, vertical }: Selection): boolean =>
  per === 'kw' || horizontal === 'joules_per_token' || vertical === 'joules_per_token';

export function toggled(list: readonly string[], value: string): readonly string[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}
