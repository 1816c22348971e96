// The concurrency range that all charts keep to, said where they are, with the way back.

import { h } from '../base/dom.ts';
import { number3 } from '../base/format.ts';
import type { Context, Part } from './context.ts';

export function makeRangeChip(): Part {
  let context: Context | null = null;
  const text = h('strong');
  const element = h(
    'p',
    { class: 'chosen-range', hidden: true },
    text,
    h(
      'button',
      {
        type: 'button',
        id: 'all-concurrency',
        click: () => context?.set({ concurrency_min: 0, concurrency_max: Infinity }),
      },
      'Show all',
    ),
  );
  return {
    element,
    update(now) {
      context = now;
      const { concurrency_min: from, concurrency_max: to } = now.selection;
      element.hidden = from === 0 && to === Infinity;
      text.textContent =
        to === Infinity
          ? `Concurrency ${number3(from)} and more`
          : from === to
            ? `Concurrency ${number3(from)}`
            : `Concurrency ${number3(from)} to ${number3(to)}`;
    },
  };
}
