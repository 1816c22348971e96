// Names and values, without those that are not known.

import { h } from '../base/dom.ts';
import { ABSENT } from '../base/format.ts';

export function facts(
  rows: readonly (readonly [string, string | Node | null | undefined])[],
): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    rows
      .filter(([, value]) => {
        const text = typeof value === 'string' ? value.trim() : value;
        return text != null && text !== '' && text !== ABSENT;
      })
      .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}
