// A reader's own words at a point, as the charts and the address then have them.

import { h } from '../base/dom.ts';
import { ANNOTATION_MAX, annotatedWith } from '../state/selection.ts';
import type { Context } from './context.ts';

// `now`: the selection may have changed since the field was made.
export function annotationField(point: string, now: () => Context): HTMLElement {
  const input: HTMLInputElement = h('input', {
    type: 'text',
    id: 'annotation',
    maxlength: ANNOTATION_MAX,
    value: now().selection.annotations[point] ?? null,
    change: () => {
      const { selection, set } = now();
      set({ annotations: annotatedWith(selection.annotations, point, input.value) }, 'replace');
    },
  });
  return h(
    'div',
    { class: 'field annotation' },
    h('label', { for: 'annotation' }, 'Your words at this point, on the charts and in the address'),
    h('span', { class: 'entry' }, input),
  );
}
