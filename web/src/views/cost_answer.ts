// The answer of the cost view: who serves the most users, who is the cheapest, and whether their
// accuracy is proven, each with the runs that it rests on.

import { h, replace } from '../base/dom.ts';
import { duration, number3, usd, whole } from '../base/format.ts';
import {
  type Cost,
  type Verdict,
  proofOf,
  unlikeWords,
  usdOf,
  usersPerAccelerator,
  verdict,
} from '../state/cost.ts';
import { givenPrice } from '../state/curves.ts';
import { DEFAULTS, type Selection } from '../state/selection.ts';
import type { Context } from './context.ts';
import { keepingFocus } from './filters.ts';
import { swatch } from './swatch.ts';
import { accuracyWord } from './systems.ts';

export interface Answer {
  readonly element: HTMLElement;
  update(costs: readonly Cost[], context: Context): void;
}

// A simulated system says so wherever it is named.
export function nameOf({ curve, title }: Cost): string {
  return curve.kind === 'simulated' ? `${title} (simulated)` : title;
}

export function makeAnswer(): Answer {
  const sentence = h('p', { class: 'answer', role: 'status' });
  const cards = h('div', { class: 'answer-cards' });
  return {
    element: h('div', { class: 'answer-box' }, sentence, cards),
    update(costs, context) {
      const meeting = costs.filter((cost) => cost.point !== null);
      const most = verdict(costs, (cost) => cost.users_per_system, 'higher');
      const dense = verdict(costs, usersPerAccelerator, 'higher');
      // Who has no price is named, and does not keep the others from being compared.
      const unpriced = meeting.filter((cost) => usdOf(cost) === null);
      const priced = costs.filter((cost) => !unpriced.includes(cost));
      const cheapest = verdict(priced, usdOf, 'lower');
      replace(
        sentence,
        meeting.length === 0
          ? [
              `No system shown gives ${promiseOf(context.selection)}. ` +
                'The table says what each one misses.',
            ]
          : [
              `Of the systems that give ${promiseOf(context.selection)}` +
                `${unlikeWords(meeting)}: `,
              ...mostWords(most, dense),
              ...cheapestWords(cheapest, unpriced, context.selection),
            ],
      );
      const [first, frugal] = [alone(most), alone(cheapest)];
      const open = most.kind === 'open';
      keepingFocus(cards, () => {
        replace(
          cards,
          first === null
            ? null
            : card(
                'most',
                open ? 'The most users at the levels that were tried' : 'Serves the most users',
                first,
                context,
              ),
          frugal === null || frugal === first
            ? null
            : card(
                'cheapest',
                open
                  ? 'The least per token at the levels that were tried'
                  : 'Costs the least per token',
                frugal,
                context,
              ),
        );
      });
    },
  };
}

const alone = (found: Verdict): Cost | null =>
  found.leaders.length === 1 ? (found.leaders[0] ?? null) : null;

const winner = (found: Verdict): Cost | null =>
  found.kind === 'one' ? (found.leaders[0] ?? null) : null;

// A limit that the user did not give says so beside the verdict that stands on it.
const promiseOf = (selection: Selection): string => {
  const mark = (key: 'slo_tps_per_user' | 'slo_ttft_ms'): string =>
    selection[key] === DEFAULTS[key] ? ' (default)' : '';
  return (
    `${number3(selection.slo_tps_per_user)} tok/s per user${mark('slo_tps_per_user')} with the ` +
    `first token within ${duration(selection.slo_ttft_ms)}${mark('slo_ttft_ms')}`
  );
};

// The others are in the table.
const NAMES_MAX = 3;
const namesOf = (costs: readonly Cost[]): Node =>
  h(
    'strong',
    {},
    costs.slice(0, NAMES_MAX).map(nameOf).join('; ') +
      (costs.length > NAMES_MAX ? ` and ${costs.length - NAMES_MAX} others` : ''),
  );

// "≥ 512" where no higher level was measured.
export function usersWords(cost: Cost): string {
  return (cost.open_ended ? '≥ ' : '') + whole(Math.floor(cost.users_per_system));
}

function mostWords(most: Verdict, dense: Verdict): readonly (Node | string)[] {
  const [first] = most.leaders;
  if (first === undefined) return [];
  if (most.kind === 'open') {
    return [
      'who serves the most users is not known: ',
      namesOf(most.open),
      ` kept the promise at ${most.open.length === 1 ? 'its' : 'their'} highest level ` +
        `(${most.open.slice(0, NAMES_MAX).map(usersWords).join('; ')} users per system). ` +
        'At the levels that were tried ',
      namesOf(most.leaders),
      ` ${most.leaders.length === 1 ? 'serves' : 'serve'} the most, ${usersWords(first)}. `,
    ];
  }
  const leading: readonly (Node | string)[] =
    most.kind === 'tie'
      ? [namesOf(most.leaders), ` serve the same most users, ${usersWords(first)} per system`]
      : [namesOf([first]), ` serves the most users, ${usersWords(first)} per system`];
  const accelerators = new Set(most.leaders.map((cost) => cost.curve.accelerators ?? 0));
  const other = winner(dense);
  const each = other === null ? null : usersPerAccelerator(other);
  return [
    ...leading,
    accelerators.size === 1 && (first.curve.accelerators ?? 0) > 0
      ? ` of ${first.curve.accelerators} accelerators`
      : '',
    `; accuracy: ${first.curve.accuracy}. `,
    ...(other === null || each === null || other === first
      ? []
      : ['For each accelerator ', namesOf([other]), ` serves the most, ${number3(each)}. `]),
  ];
}

function cheapestWords(
  cheapest: Verdict,
  unpriced: readonly Cost[],
  selection: Selection,
): readonly (Node | string)[] {
  const words = pricedWords(cheapest, selection);
  if (cheapest.kind === 'none' || unpriced.length === 0) return words;
  return [
    namesOf(unpriced),
    unpriced.length === 1 ? ' has no price and is left out. ' : ' have no price and are left out. ',
    ...words,
  ];
}

function pricedWords(cheapest: Verdict, selection: Selection): readonly (Node | string)[] {
  const [first] = cheapest.leaders;
  const how = selection.users > 0 ? '' : ' when all tokens are sold';
  if (cheapest.kind === 'none' || first === undefined) {
    return ['Which is the cheapest is not known: give a price for each accelerator.'];
  }
  const bound = cheapest.kind === 'one' && first.open_ended ? 'at most ' : '';
  const price = `${bound}${usd(usdOf(first))} per million tokens${how}`;
  if (cheapest.kind === 'open') {
    return [
      `Which is the cheapest is not known either; at the levels that were tried `,
      namesOf(cheapest.leaders),
      ` ${cheapest.leaders.length === 1 ? 'costs' : 'cost'} the least, at most ${price}.`,
    ];
  }
  return cheapest.kind === 'tie'
    ? [namesOf(cheapest.leaders), ` cost the same, ${price}.`]
    : [namesOf([first]), ` is the cheapest, at ${price}; accuracy: ${first.curve.accuracy}.`];
}

function card(id: string, title: string, cost: Cost, context: Context): HTMLElement {
  const { curve } = cost;
  const series = context.series.find((one) => one.curve === curve);
  return h(
    'section',
    { class: 'answer-card', 'aria-labelledby': `answer-${id}` },
    h('h3', { id: `answer-${id}` }, title),
    h(
      'p',
      { class: 'answer-name' },
      series === undefined ? null : swatch(series, context.theme),
      nameOf(cost),
    ),
    h(
      'dl',
      { class: 'answer-figures' },
      figure('Users per system', usersWords(cost), levelLink(cost, context)),
      figure('$ per million tokens', usd(usdOf(cost)), priceWords(cost, context)),
      figure('Accuracy', accuracyWord(curve.accuracy), proof(id, cost, context)),
    ),
  );
}

function figure(name: string, value: Node | string, under: Node | string | null): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value), h('dd', { class: 'under' }, under));
}

const link = (id: string, text: string, click: () => void): HTMLElement =>
  h('button', { type: 'button', class: 'link', id, click }, text);

function levelLink(cost: Cost, context: Context): HTMLElement | null {
  const { point } = cost;
  if (point === null) return null;
  return link(`rests-${point.id}`, `at concurrency ${number3(point.concurrency)}`, () =>
    context.set({ view: 'run', run: point.id }),
  );
}

// What a system costs beside its rent or purchase.
const EXTRAS = ['usd_per_kwh', 'space_per_month', 'software_per_year', 'staff_per_year'] as const;

function priceWords(cost: Cost, context: Context): string {
  const { curve } = cost;
  const { bill, price, prices } = context.selection;
  if (cost.price_per_hour === null) return 'give a price for its accelerators';
  const also = EXTRAS.some((key) => bill[key] !== undefined) ? ', and what else you gave' : '';
  const own = givenPrice(prices, curve.accelerator);
  if (own === undefined && curve.price_per_hour != null) {
    return `at ${usd(curve.price_per_hour)} an hour, as imported${also}`;
  }
  const rent = own ?? price;
  return own !== undefined || rent > 0
    ? `at ${usd(rent)} per accelerator-hour, your price${also}`
    : `at ${usd(bill.capex)} for an accelerator over ${number3(bill.years)} years, ` +
        `your price${also}`;
}

// Where the verdict comes from; a verdict that nothing stands behind says so.
function proof(id: string, cost: Cost, context: Context): HTMLElement | string {
  const point = cost.point === null ? null : proofOf(cost.curve, cost.point);
  if (point === null) return 'nobody scored it: not proven';
  return link(`proof-${id}`, `scored at concurrency ${number3(point.concurrency)}`, () =>
    context.set({ view: 'run', run: point.id }),
  );
}
