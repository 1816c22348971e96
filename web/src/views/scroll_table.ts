// A table that scrolls sideways in a region of its own, which the keyboard reaches by its label.

import { h } from '../base/dom.ts';

export const scrollTable = (
  label: string,
  heads: readonly string[],
  rows: readonly HTMLTableRowElement[],
  headClass: string | null = null,
): HTMLElement =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col', class: headClass }, head)),
        ),
      ),
      h('tbody', {}, rows),
    ),
  );
