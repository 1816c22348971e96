// A run by the language and the modality of its rows: latencies beside what a tokenizer costs each.

import type { AxisFigures, Run } from '../api/generated.ts';
import { h } from '../base/dom.ts';
import { ABSENT, duration, number3, whole, words } from '../base/format.ts';
import { scrollTable } from './scroll_table.ts';

const ms = (ns: number | null | undefined): string => duration(ns == null ? ns : ns / 1e6);

// Beside the least of the axis: "0.91 (2.4 ×)".
function costText(
  cost: number | null | undefined,
  all: readonly (number | null | undefined)[],
): string {
  if (cost == null) return ABSENT;
  const known = all.filter((one): one is number => one != null && one > 0);
  const least = Math.min(...known);
  const times = known.length > 1 && cost > least ? ` (${number3(cost / least)} ×)` : '';
  return number3(cost) + times;
}

function table(axis: string, rows: readonly AxisFigures[]): HTMLElement {
  const prompts = rows.map((one) => one.prompts.tokens_per_character);
  const replies = rows.map((one) => one.replies.tokens_per_character);
  return scrollTable(
    `By ${axis}`,
    [
      words(axis),
      'Queries',
      'Failed',
      'TTFT P50',
      'TTFT P90',
      'TPOT P50',
      'Latency P90',
      'Tokens a character, asked',
      'Tokens a character, answered',
    ],
    rows.map((one, i) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, one.value),
        [
          whole(one.ended),
          whole(one.failed),
          ms(one.ttft.p50),
          ms(one.ttft.p90),
          ms(one.tpot.p50),
          ms(one.latency.p90),
          costText(prompts[i], prompts),
          costText(replies[i], replies),
        ].map((text) => h('td', { class: 'number' }, text)),
      ),
    ),
  );
}

export function axesSection(run: Run): readonly HTMLElement[] {
  const all = run.axes ?? [];
  if (all.length === 0) return [];
  const names = [...new Set(all.map((one) => one.axis))];
  return [
    h(
      'section',
      {},
      h('h3', {}, 'Languages and modalities'),
      names.map((axis) =>
        table(
          axis,
          all.filter((one) => one.axis === axis),
        ),
      ),
      h(
        'p',
        { class: 'hint' },
        'Tokens a character: what the tokenizer needs for a language, chat template included; ' +
          '× is beside the least. More tokens take longer and cost more for the same text.',
      ),
    ),
  ];
}

// The datasets that were asked, each with its page.
export const datasheetLinks = (run: Run): HTMLElement | null =>
  (run.datasheets ?? []).length === 0
    ? null
    : h(
        'span',
        {},
        (run.datasheets ?? []).flatMap((one, i) => [
          i > 0 ? ', ' : null,
          h('a', { href: `#/data?sheet=${encodeURIComponent(one.id)}` }, one.name),
        ]),
      );
