// Cost and SLO: a price and a promise to the user in, dollars and accelerators out.

import { h, replace } from '../base/dom.ts';
import { ABSENT, number3, usd, whole } from '../base/format.ts';
import { type Table, toCsv, toJson } from '../base/table.ts';
import { type Cost, byCost, costOf, usersPerAccelerator } from '../state/cost.ts';
import { makeAnswer, nameOf, usersWords } from './cost_answer.ts';
import { givenPrice, sameValue, spellings } from '../state/curves.ts';
import { DEFAULTS, type Selection } from '../state/selection.ts';
import type { Context, Part } from './context.ts';
import { makeBill } from './bill.ts';
import { save } from './download.ts';
import { keepingFocus } from './filters.ts';
import { swatch } from './swatch.ts';
import { accuracyWord } from './systems.ts';

type NumberKey = 'slo_tps_per_user' | 'slo_ttft_ms' | 'users' | 'price' | 'derate' | 'headroom';

interface Field {
  readonly key: NumberKey;
  readonly text: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  // What the field shows for a stored value, and back.
  readonly scale: number;
  // Empty, and 0 in the selection, until the user gives it.
  readonly optional?: boolean;
  // What is promised to a user: as long as it is the page's and not the user's, it says so.
  readonly promise?: boolean;
}

const FIELDS: readonly Field[] = [
  {
    key: 'slo_tps_per_user',
    text: 'Each user gets at least',
    unit: 'tok/s',
    min: 1,
    max: 1000,
    step: 1,
    scale: 1,
    promise: true,
  },
  {
    key: 'slo_ttft_ms',
    text: 'First token within (P90)',
    unit: 'ms',
    min: 10,
    max: 60000,
    step: 10,
    scale: 1,
    promise: true,
  },
  {
    key: 'users',
    text: 'Users at the peak',
    unit: 'users',
    min: 1,
    max: 1e9,
    step: 1,
    scale: 1,
    optional: true,
  },
  {
    key: 'price',
    text: 'Price of an accelerator',
    unit: '$/h',
    min: 0,
    max: 1e5,
    step: 0.01,
    scale: 1,
    optional: true,
  },
  {
    key: 'derate',
    text: 'Production reaches',
    unit: '% of the measured',
    min: 1,
    max: 100,
    step: 1,
    scale: 100,
  },
  { key: 'headroom', text: 'Kept in reserve', unit: '%', min: 0, max: 95, step: 1, scale: 100 },
];

const SLIDERS: Partial<Record<NumberKey, readonly [number, number]>> = {
  slo_tps_per_user: [1, 500],
  slo_ttft_ms: [50, 20000],
};

export function makeCost(): { readonly form: Part; readonly table: Part } {
  return { form: makeForm(), table: makeTable() };
}

function makeForm(): Part {
  let context: Context | null = null;
  const set = (patch: Partial<Selection>, how?: 'push' | 'replace'): void =>
    context?.set(patch, how);
  const fields = FIELDS.map((field) => makeField(field, set));
  const prices = h('div', { class: 'prices' });
  const bill = makeBill();
  const answer = makeAnswer();
  const element = h(
    'section',
    { class: 'cost-form' },
    h('h2', {}, 'Which system serves the promise, and at what cost?'),
    h(
      'div',
      { class: 'fields' },
      fields.map((field) => field.element),
    ),
    prices,
    bill.element,
    answer.element,
  );
  return {
    element,
    update(now) {
      context = now;
      for (const field of fields) field.update(now);
      bill.update(now);
      answer.update(costsOf(now), now);
      keepingFocus(prices, () => replace(prices, pricesBox(now)));
    },
  };
}

// Sliders move over decades: their position is the logarithm.
function makeField(
  field: Field,
  set: (patch: Partial<Selection>, how?: 'push' | 'replace') => void,
): Part {
  const id = `field-${field.key}`;
  const input = h('input', {
    type: 'number',
    id,
    min: field.min,
    max: field.max,
    step: field.step,
    change: () => {
      const value = Number(input.value);
      if (input.value === '' && field.optional === true) set({ [field.key]: 0 });
      if (input.value === '' || !Number.isFinite(value)) return;
      set({ [field.key]: Math.min(field.max, Math.max(field.min, value)) / field.scale });
    },
  });
  const range = SLIDERS[field.key];
  const slider =
    range === undefined
      ? null
      : h('input', {
          type: 'range',
          min: Math.log(range[0]),
          max: Math.log(range[1]),
          step: 0.01,
          'aria-label': field.text,
          input: (event: Event) =>
            set(
              {
                [field.key]: Number(
                  Math.exp(Number((event.target as HTMLInputElement).value)).toPrecision(2),
                ),
              },
              'replace',
            ),
        });
  const unit = h('span', { class: 'unit' });
  const element = h(
    'div',
    { class: 'field' },
    h('label', { for: id }, field.text),
    h('span', { class: 'entry' }, input, unit),
    slider,
  );
  return {
    element,
    update({ selection }) {
      const value = selection[field.key];
      const given = field.promise !== true || value !== DEFAULTS[field.key];
      unit.textContent = given ? field.unit : `${field.unit} (default)`;
      if (document.activeElement !== input) {
        input.value =
          field.optional === true && value === 0
            ? ''
            : String(Number((value * field.scale).toPrecision(6)));
      }
      if (slider !== null && document.activeElement !== slider)
        slider.value = String(Math.log(value));
    },
  };
}

function pricesBox(context: Context): HTMLElement {
  const { selection } = context;
  const known = context.curves.filter((curve) => curve.accelerator != null);
  const names = [...new Set(known.map(spellings(known, 'accelerator')))].sort();
  return h(
    'details',
    { open: Object.keys(selection.prices).length > 0 },
    h('summary', { id: 'prices-summary' }, 'A price for each accelerator'),
    h('p', { class: 'hint' }, 'Assay ships no price list: what stands here is yours.'),
    h(
      'div',
      { class: 'fields' },
      names.map((name, i) => {
        const id = `price-of-${i}`;
        return h(
          'div',
          { class: 'field' },
          h('label', { for: id }, name),
          h(
            'span',
            { class: 'entry' },
            h('input', {
              type: 'number',
              id,
              min: 0,
              step: 0.01,
              placeholder: selection.price > 0 ? String(selection.price) : '',
              value: givenPrice(selection.prices, name) ?? null,
              change: (event: Event) => {
                const { value } = event.target as HTMLInputElement;
                const others = Object.fromEntries(
                  Object.entries(selection.prices).filter(([one]) => !sameValue(one, name)),
                );
                context.set({
                  prices: value === '' ? others : { ...others, [name]: Number(value) },
                });
              },
            }),
            h('span', { class: 'unit' }, '$/h'),
          ),
        );
      }),
    ),
  );
}

function makeTable(): Part {
  const body = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Cost' });
  let costs: readonly Cost[] = [];
  const element = h(
    'section',
    { class: 'costs' },
    h(
      'header',
      {},
      h('h2', {}, 'What it costs'),
      h(
        'div',
        { class: 'downloads', role: 'group', 'aria-label': 'Downloads' },
        h(
          'button',
          {
            type: 'button',
            'aria-label': 'Download CSV: cost',
            click: () => save('assay-cost.csv', 'text/csv', toCsv(costTable(costs))),
          },
          'CSV',
        ),
        h(
          'button',
          {
            type: 'button',
            'aria-label': 'Download JSON: cost',
            click: () => save('assay-cost.json', 'application/json', toJson(costTable(costs))),
          },
          'JSON',
        ),
      ),
    ),
    body,
    h('details', { class: 'arithmetic' }, h('summary', {}, 'The arithmetic'), arithmetic()),
  );
  return {
    element,
    update(context) {
      costs = costsOf(context);
      keepingFocus(body, () => replace(body, table(costs, context)));
    },
  };
}

function costsOf(context: Context): readonly Cost[] {
  return context.series.map((one) => costOf(one.curve, context.selection, one.title)).sort(byCost);
}

const COLUMNS = [
  'System',
  'Accuracy',
  'At concurrency',
  'Users per system',
  'Users per accelerator',
  'Systems',
  'Accelerators',
  '$/hour',
  '$/user-hour',
  '$/M tokens',
  '$/M tokens, all sold',
  '$ over the years',
];

// Beside the dollars that lack something.
const withoutWords = (cost: Cost): string =>
  cost.usd_per_hour === null || cost.without.length === 0
    ? ''
    : `, without ${cost.without.join(', ')}: not known`;

function usersEach(cost: Cost): string {
  const each = usersPerAccelerator(cost);
  return each === null ? ABSENT : (cost.open_ended ? '≥ ' : '') + number3(each);
}

function table(costs: readonly Cost[], context: Context): HTMLElement {
  const bySeries = new Map(context.series.map((one) => [one.curve.id, one]));
  return h(
    'table',
    {},
    h('caption', { class: 'visually-hidden' }, 'Cost at the SLO, cheapest first'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        COLUMNS.map((name, i) => h('th', { scope: 'col', class: i > 1 ? 'number' : null }, name)),
      ),
    ),
    h(
      'tbody',
      {},
      costs.slice(0, 100).map((cost) => {
        const series = bySeries.get(cost.curve.id);
        const name = h(
          'th',
          { scope: 'row' },
          series === undefined ? null : swatch(series, context.theme),
          h('span', { class: 'name' }, nameOf(cost)),
          h(
            'small',
            {},
            cost.curve.accelerators == null
              ? ''
              : `${cost.curve.accelerators} × ${cost.curve.accelerator ?? 'unknown'}`,
          ),
        );
        const { point } = cost;
        if (point === null) {
          return h(
            'tr',
            { class: 'unmet' },
            name,
            h('td', {}, accuracyWord(cost.curve.accuracy)),
            h('td', { colspan: COLUMNS.length - 2 }, `misses the SLO: ${cost.why}`),
          );
        }
        const numbers = [
          number3(point.concurrency),
          usersWords(cost),
          usersEach(cost),
          cost.replicas === null ? ABSENT : whole(cost.replicas),
          whole(cost.accelerators),
          usd(cost.usd_per_hour),
          usd(cost.usd_per_user_hour),
          usd(cost.usd_per_mtok),
          usd(cost.usd_per_mtok_full),
          usd(cost.usd_total) + withoutWords(cost),
        ];
        return h(
          'tr',
          {},
          name,
          h('td', {}, accuracyWord(point.accuracy ?? cost.curve.accuracy)),
          numbers.map((text, i) =>
            h(
              'td',
              { class: 'number' },
              i !== 0
                ? text
                : h(
                    'button',
                    {
                      type: 'button',
                      class: 'link',
                      id: `at-${point.id}`,
                      'aria-label': `Report of concurrency ${text}`,
                      click: () => context.set({ view: 'run', run: point.id }),
                    },
                    text || ABSENT,
                  ),
            ),
          ),
        );
      }),
    ),
  );
}

function costTable(costs: readonly Cost[]): Table {
  return {
    columns: [
      'system',
      'accuracy',
      'concurrency',
      'users_per_system',
      'not_measured_further',
      'users_per_accelerator',
      'systems',
      'accelerators',
      'usd_per_hour',
      'usd_per_user_hour',
      'usd_per_mtok',
      'usd_per_mtok_all_sold',
      'usd_total',
      'without',
      'why_not',
    ],
    rows: costs.map((cost) => [
      cost.curve.system_name,
      cost.curve.accuracy,
      cost.point?.concurrency,
      cost.point === null ? null : cost.users_per_system,
      cost.point === null ? null : cost.open_ended ? 'yes' : 'no',
      cost.point === null ? null : usersPerAccelerator(cost),
      cost.replicas,
      cost.accelerators,
      cost.usd_per_hour,
      cost.usd_per_user_hour,
      cost.usd_per_mtok,
      cost.usd_per_mtok_full,
      cost.usd_total,
      cost.without.join(' '),
      cost.why,
    ]),
  };
}

function arithmetic(): HTMLElement {
  const lines = [
    'A point meets the SLO when its tok/s per user and its TTFT P90 both do. No interpolation.',
    'users per system = min(concurrency, system tok/s ÷ promised tok/s per user) of the best one',
    'systems = ceil(users ÷ (users per system × what production reaches × (1 − reserve))) + spare',
    'bought: $/hour = price × accelerators × r(1+r)ⁿ ÷ ((1+r)ⁿ − 1) ÷ 8760; 1 ÷ n without interest',
    'to rent or purchase: + kW × PUE × $/kWh + (12 × space a month + software a year) ÷ 8760',
    '$/hour = systems × that of a system + staff a year ÷ 8760; $/user-hour = $/hour ÷ users',
    '$/M tokens = 10⁶ × $/hour ÷ (3600 × users × promised tok/s per user × share sold)',
    '$ over the years: users grow each year, systems with them; the last year may be a part',
    '≥: the highest level that was measured still met the SLO; more users were never tried',
    'without a number of users: one system, every token sold; without a price: no dollars',
    'all sold: the same with every token that the systems can make at that point',
    'Offline throughput is not used: at that point no user gets the promised speed.',
  ];
  return h(
    'ul',
    {},
    lines.map((line) => h('li', {}, line)),
  );
}
