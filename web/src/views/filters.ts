// The filters: what is shown, how it is normalised, and the concurrency that all charts keep to.

import { NO_WINDOW } from '../charts/window.ts';
import { h, replace } from '../base/dom.ts';
import { number3, whole, words } from '../base/format.ts';
import { choices, datedAt, sameValue, withoutDivisor } from '../state/curves.ts';
import {
  DEFAULTS,
  FACETS,
  type Facet,
  NORMALISATIONS,
  type Normalisation,
  type Selection,
} from '../state/selection.ts';
import type { Context, Part } from './context.ts';

export const FACET_TITLES: Readonly<Record<Facet, string>> = {
  accelerator: 'Accelerator',
  accelerators: 'Number of accelerators',
  software: 'Software stack',
  division: 'Division',
  availability: 'Availability',
  organisation: 'Organisation',
  kind: 'Measured or simulated',
  accuracy: 'Accuracy',
  safety: 'Lowest safety grade',
  agentic: 'Single turn or agentic',
  lengths: 'Tokens in and out, mean',
  precision: 'Precision',
  status: 'State of the submission',
};

export const PER_TITLES: Readonly<Record<Normalisation, string>> = {
  system: 'per system',
  accelerator: 'per accelerator',
  kw: 'per kW',
  usd: 'per $/hour',
};

const PRESETS: readonly (readonly [string, number, number])[] = [
  ['all', 0, Infinity],
  ['1 user', 1, 1],
  ['≥ 10 users', 10, Infinity],
  ['≥ 100', 100, Infinity],
  ['≥ 1,000', 1000, Infinity],
];

export function makeFilters(): Part {
  let context: Context | null = null;
  const set = (patch: Partial<Selection>): void => context?.set(patch);
  const view = viewControls(set);
  const concurrency = concurrencyControls(set);
  const dates = dateControls(set);
  const facets = h('div', { class: 'facets' });
  const clear = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      click: () =>
        set({
          filters: DEFAULTS.filters,
          search: '',
          concurrency_min: 0,
          concurrency_max: Infinity,
          since: '',
          until: '',
          pinned: [],
        }),
    },
    'Clear all filters',
  );
  const element = h(
    'details',
    { class: 'filters', open: true },
    h('summary', {}, 'Filters'),
    h(
      'form',
      { submit: (event: Event) => event.preventDefault(), 'aria-label': 'Filters' },
      concurrency.element,
      view.element,
      dates.element,
      facets,
      clear,
    ),
  );
  if (window.matchMedia('(max-width: 800px)').matches) element.removeAttribute('open');
  return {
    element,
    update(now) {
      context = now;
      view.update(now);
      concurrency.update(now);
      dates.update(now);
      keepingFocus(facets, () =>
        replace(
          facets,
          FACETS.map((facet) => facetBox(facet, now)),
        ),
      );
    },
  };
}

// Rebuilds a part of the page; what had the focus and is still there has it again.
export function keepingFocus(element: HTMLElement, build: () => void): void {
  const had = element.contains(document.activeElement) ? document.activeElement?.id : undefined;
  build();
  if (had !== undefined && had !== '') document.getElementById(had)?.focus();
}

function facetBox(facet: Facet, context: Context): HTMLElement | null {
  const { selection } = context;
  const all = choices(context.curves, selection, facet);
  const chosen = selection.filters[facet];
  if (all.length < 2 && chosen.length === 0) return null;
  const isChosen = (value: string): boolean => chosen.some((one) => sameValue(one, value));
  const shown = all.filter((one) => one.curves > 0 || isChosen(one.value));
  return h(
    'fieldset',
    {},
    h('legend', {}, FACET_TITLES[facet]),
    h(
      'div',
      { class: 'choices' },
      shown.map((choice, i) => {
        const id = `facet-${facet}-${i}`;
        return h(
          'label',
          { for: id },
          h('input', {
            type: 'checkbox',
            id,
            name: facet,
            value: choice.value,
            checked: isChosen(choice.value),
            change: () =>
              context.set({
                filters: {
                  ...selection.filters,
                  [facet]: isChosen(choice.value)
                    ? chosen.filter((one) => !sameValue(one, choice.value))
                    : [...chosen, choice.value],
                },
              }),
          }),
          h(
            'span',
            { class: 'value' },
            facet === 'accelerators' ? choice.value : words(choice.value),
          ),
          h('span', { class: 'count' }, whole(choice.curves)),
        );
      }),
    ),
  );
}

function concurrencyControls(set: (patch: Partial<Selection>) => void): Part {
  const low = h('input', {
    type: 'number',
    id: 'concurrency-min',
    min: 0,
    step: 1,
    inputmode: 'numeric',
    placeholder: 'any',
    change: () => set({ concurrency_min: Number(low.value) || 0 }),
  });
  const high = h('input', {
    type: 'number',
    id: 'concurrency-max',
    min: 0,
    step: 1,
    inputmode: 'numeric',
    placeholder: 'any',
    change: () => set({ concurrency_max: Number(high.value) || Infinity }),
  });
  const buttons = PRESETS.map(([text, from, to]) =>
    h(
      'button',
      {
        type: 'button',
        'data-from': from,
        'data-to': to,
        click: () => set({ concurrency_min: from, concurrency_max: to }),
      },
      text,
    ),
  );
  const element = h(
    'fieldset',
    { class: 'concurrency' },
    h('legend', {}, 'Concurrency'),
    h('div', { class: 'presets' }, buttons),
    h('div', { class: 'range' }, h('label', {}, 'from ', low), h('label', {}, 'to ', high)),
    h('p', { class: 'hint' }, 'Or drag across a concurrency chart; by keys: Shift and arrows.'),
  );
  return {
    element,
    update({ selection }) {
      const [from, to] = [selection.concurrency_min, selection.concurrency_max];
      if (document.activeElement !== low)
        low.value = from > 0 ? number3(from).replaceAll(',', '') : '';
      if (document.activeElement !== high) {
        high.value = Number.isFinite(to) ? number3(to).replaceAll(',', '') : '';
      }
      buttons.forEach((button, i) => {
        const [, presetFrom, presetTo] = PRESETS[i] as readonly [string, number, number];
        button.setAttribute('aria-pressed', String(presetFrom === from && presetTo === to));
      });
    },
  };
}

function dateControls(set: (patch: Partial<Selection>) => void): Part {
  const box = (name: 'since' | 'until'): HTMLInputElement =>
    h('input', {
      type: 'date',
      id: name,
      change: (event: Event) => set({ [name]: (event.target as HTMLInputElement).value }),
    });
  const boxes = { since: box('since'), until: box('until') };
  const element = h(
    'fieldset',
    { class: 'dates' },
    h('legend', {}, 'Published, else measured'),
    h(
      'div',
      { class: 'range' },
      h('label', {}, 'from ', boxes.since),
      h('label', {}, 'to ', boxes.until),
    ),
  );
  return {
    element,
    update({ selection, curves }) {
      const { since, until } = selection;
      element.hidden = since + until === '' && curves.every((curve) => datedAt(curve) === null);
      for (const name of ['since', 'until'] as const) {
        if (document.activeElement !== boxes[name]) boxes[name].value = selection[name];
      }
    },
  };
}

function viewControls(set: (patch: Partial<Selection>) => void): Part {
  const per = h(
    'select',
    { id: 'per', change: () => set({ per: per.value as Normalisation, ...NO_WINDOW }) },
    NORMALISATIONS.map((one) => h('option', { value: one }, PER_TITLES[one])),
  );
  const missing = h('p', { class: 'hint', role: 'status' });
  const check = (text: string, flip: (on: boolean) => Partial<Selection>): HTMLInputElement =>
    h('input', {
      type: 'checkbox',
      id: `show-${text}`,
      change: (event: Event) => set(flip((event.target as HTMLInputElement).checked)),
    });
  const boxes = {
    envelope: check('envelope', (on) => ({ envelope: on })),
    smooth: check('smooth', (on) => ({ smooth: on })),
    twin: check('twin', (on) => ({ twin: on })),
    x: check('x', (on) => ({ x: on ? 'log' : 'linear', ...NO_WINDOW })),
    y: check('y', (on) => ({ y: on ? 'log' : 'linear', ...NO_WINDOW })),
  };
  const row = (box: HTMLElement, text: string): HTMLElement =>
    h('label', {}, box, h('span', { class: 'value' }, text));
  const element = h(
    'fieldset',
    { class: 'show' },
    h('legend', {}, 'Show'),
    h('label', { class: 'per' }, 'Throughput ', per),
    missing,
    h(
      'div',
      { class: 'choices' },
      row(boxes.envelope, 'Pareto envelope across systems'),
      row(boxes.twin, 'Simulated twins'),
      row(boxes.smooth, 'Smooth line: interpolated (not official)'),
      row(boxes.x, 'Horizontal axis logarithmic'),
      row(boxes.y, 'Vertical axis logarithmic'),
    ),
  );
  return {
    element,
    update({ selection, curves }) {
      per.value = selection.per;
      boxes.envelope.checked = selection.envelope;
      boxes.smooth.checked = selection.smooth;
      boxes.twin.checked = selection.twin;
      boxes.x.checked = selection.x === 'log';
      boxes.y.checked = selection.y === 'log';
      const left = withoutDivisor(curves, selection);
      missing.textContent =
        left === 0
          ? ''
          : `${left} ${left === 1 ? 'system is' : 'systems are'} ` +
            `not shown: ${
              selection.per === 'kw'
                ? 'the power'
                : selection.per === 'usd'
                  ? 'the price'
                  : 'the number of accelerators'
            } is unknown.`;
      missing.hidden = left === 0;
    },
  };
}
