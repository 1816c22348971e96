// The answer of the cost view: who serves the most users, who is the cheapest, and whether their
// accuracy is proven, each with the runs that it rests on.

import { h, replace } from '../base/dom.ts';
import { duration, number3, usd, whole } from '../base/format.ts';
import { type Cost, proofOf } from '../state/cost.ts';
import type { Selection } from '../state/selection.ts';
import type { Context } from './context.ts';
import { keepingFocus } from './filters.ts';
import { swatch } from './swatch.ts';
import { accuracyWord } from './systems.ts';

export interface Answer {
  readonly element: HTMLElement;
  update(costs: readonly Cost[], context: Context): void;
}

// A simulated system says so wherever it is named.
export function nameOf({ curve }: Cost): string {
  return curve.kind === 'simulated' ? `${curve.system_name} (simulated)` : curve.system_name;
}

export function makeAnswer(): Answer {
  const sentence = h('p', { class: 'answer', role: 'status' });
  const cards = h('div', { class: 'answer-cards' });
  return {
    element: h('div', { class: 'answer-box' }, sentence, cards),
    update(costs, context) {
      const meeting = costs.filter((cost) => cost.point !== null);
      const cheapest = meeting[0] ?? null;
      const most = meeting.reduce<Cost | null>(
        (best, cost) =>
          best === null || cost.users_per_system > best.users_per_system ? cost : best,
        null,
      );
      replace(sentence, sentenceOf(most, cheapest, context.selection));
      keepingFocus(cards, () => {
        replace(
          cards,
          most === null ? null : card('most', 'Serves the most users', most, context),
          cheapest === null || cheapest === most
            ? null
            : card('cheapest', 'Costs the least per token', cheapest, context),
        );
      });
    },
  };
}

function sentenceOf(
  most: Cost | null,
  cheapest: Cost | null,
  selection: Selection,
): readonly (Node | string)[] {
  const promise =
    `${number3(selection.slo_tps_per_user)} tok/s per user with the first token within ` +
    duration(selection.slo_ttft_ms);
  if (most === null || cheapest === null) {
    return [`No system shown gives ${promise}. The table says what each one misses.`];
  }
  const price = (cost: Cost): string =>
    cost.usd_per_mtok === null
      ? 'at a price that nobody said'
      : `at ${usd(cost.usd_per_mtok)} per million tokens`;
  return [
    h('strong', {}, nameOf(most)),
    ` serves the most users at ${promise}: `,
    h('strong', {}, `${whole(Math.floor(most.users_per_system))} per system`),
    `, ${price(most)}; its accuracy: ${most.curve.accuracy}. `,
    ...(most === cheapest
      ? ['It is also the cheapest.']
      : [
          h('strong', {}, nameOf(cheapest)),
          ` is the cheapest, ${price(cheapest)}; its accuracy: ${cheapest.curve.accuracy}.`,
        ]),
  ];
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
      figure(
        'Users per system',
        whole(Math.floor(cost.users_per_system)),
        levelLink(cost, context),
      ),
      figure('$ per million tokens', usd(cost.usd_per_mtok), priceWords(cost, context)),
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

function priceWords(cost: Cost, context: Context): string {
  const { curve } = cost;
  if (cost.price_per_hour === null) return 'its accelerators are not known: say a price for it';
  const own = curve.accelerator == null ? undefined : context.selection.prices[curve.accelerator];
  const said = own ?? (curve.price_per_hour == null ? context.selection.price : null);
  return said === null
    ? `at ${usd(cost.price_per_hour)} an hour, as imported`
    : `at ${usd(said)} per accelerator-hour, your price`;
}

// Where the verdict comes from; a verdict that nothing stands behind says so.
function proof(id: string, cost: Cost, context: Context): HTMLElement | string {
  const point = cost.point === null ? null : proofOf(cost.curve, cost.point);
  if (point === null) return 'nobody scored it: not proven';
  return link(`proof-${id}`, `scored at concurrency ${number3(point.concurrency)}`, () =>
    context.set({ view: 'run', run: point.id }),
  );
}
