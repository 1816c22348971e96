// Findings of the rules or of reviewers, what keeps a result out first.

import type { Finding } from '../api/generated.ts';
import { h } from '../base/dom.ts';

const ORDER: readonly string[] = ['error', 'warning', 'info'];

const rankOf = ({ severity }: Finding): number => ORDER.indexOf(severity);

export function findings(list: readonly Finding[]): HTMLElement {
  if (list.length === 0) return h('p', {}, 'None.');
  return h(
    'ul',
    { class: 'findings' },
    [...list]
      .sort((p, q) => rankOf(p) - rankOf(q))
      .map((one) =>
        h(
          'li',
          { class: one.severity },
          h('strong', {}, `${one.severity}: ${one.rule}`),
          ' ',
          one.message,
          one.clause ? h('span', { class: 'clause' }, ` ${one.clause}`) : null,
          one.fix ? h('p', { class: 'fix' }, `Fix: ${one.fix}`) : null,
          one.path ? h('small', {}, one.path) : null,
        ),
      ),
  );
}
