// The systems as a table: the legend of the charts, and what one compares at a glance.

import { h, replace } from '../base/dom.ts';
import { ABSENT, duration, number3, whole, words } from '../base/format.ts';
import type { Series } from '../state/curves.ts';
import { type Sort, toggled } from '../state/selection.ts';
import { UNIT } from './charts.ts';
import type { Context, Part } from './context.ts';
import { keepingFocus } from './filters.ts';
import { swatch } from './swatch.ts';

const ROWS_MAX = 40;

function fastest(series: Series): number | null {
  const values = series.points.flatMap((point) => point.tps_per_user ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

function bestTtft(series: Series): number | null {
  const values = series.points.flatMap((point) => point.ttft_ms_p90 ?? []);
  return values.length === 0 ? null : Math.min(...values);
}

const ORDERS: Partial<Record<Sort, (x: Series, y: Series) => number>> = {
  name: (x, y) => x.curve.system_name.localeCompare(y.curve.system_name),
  peak: (x, y) => y.peak - x.peak,
  interactivity: (x, y) => (fastest(y) ?? 0) - (fastest(x) ?? 0),
  points: (x, y) => y.points.length - x.points.length,
};

export function makeSystems(): Part {
  const head = h('h2', {}, 'Systems');
  const body = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Systems' });
  const element = h('section', { class: 'systems' }, head, body);
  return {
    element,
    update(context) {
      const { series, curves } = context;
      head.textContent = `${whole(series.length)} of ${whole(curves.length)} curves`;
      keepingFocus(element, () => replace(body, table(context)));
    },
  };
}

function table(context: Context): HTMLElement {
  const { selection, series } = context;
  const sorted = [...series].sort(ORDERS[selection.sort] ?? ORDERS.peak);
  const several = new Set(series.map((one) => one.curve.dataset)).size > 1;
  const column = (text: string, sort: Sort | null, className = ''): HTMLElement =>
    h(
      'th',
      {
        scope: 'col',
        class: className,
        'aria-sort':
          sort !== null && selection.sort === sort
            ? sort === 'name'
              ? 'ascending'
              : 'descending'
            : null,
      },
      sort === null
        ? text
        : h(
            'button',
            { type: 'button', id: `sort-${sort}`, click: () => context.set({ sort }, 'replace') },
            text,
          ),
    );
  return h(
    'div',
    {},
    h(
      'table',
      {},
      h('caption', { class: 'visually-hidden' }, 'The systems that the charts show'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          column('In colour', null),
          column('System', 'name'),
          column('Accelerators', null),
          column('Software', null),
          column(`Peak ${UNIT[selection.per]}`, 'peak', 'number'),
          column('Best tok/s per user', 'interactivity', 'number'),
          column('Best TTFT P90', null, 'number'),
          column('kW', null, 'number'),
          column('Points', 'points', 'number'),
          column('Accuracy', null),
          column('Compare', null),
        ),
      ),
      h(
        'tbody',
        {},
        sorted.slice(0, ROWS_MAX).map((one) => row(one, several, context)),
      ),
    ),
    sorted.length > ROWS_MAX
      ? h(
          'p',
          { class: 'hint' },
          `${ROWS_MAX} of ${whole(sorted.length)} shown; filter to see others.`,
        )
      : null,
  );
}

// `several`: more than one dataset is shown, so a row says its own. Rounds of a suite are datasets.
function row(one: Series, several: boolean, context: Context): HTMLElement {
  const { curve } = one;
  const { selection } = context;
  return h(
    'tr',
    {},
    h(
      'td',
      {},
      h(
        'label',
        { class: 'pin' },
        h('input', {
          type: 'checkbox',
          id: `pin-${curve.id}`,
          checked: selection.pinned.includes(curve.id),
          'aria-label': `Draw ${curve.system_name} in colour`,
          change: () => context.set({ pinned: toggled(selection.pinned, curve.id) }, 'replace'),
        }),
        swatch(one, context.theme),
      ),
    ),
    h(
      'th',
      { scope: 'row' },
      h('span', { class: 'name' }, curve.system_name),
      h(
        'small',
        {},
        [curve.organisation, curve.division, words(curve.kind), several ? curve.dataset : null]
          .filter((word) => word != null && word !== '')
          .join(' · '),
      ),
    ),
    h(
      'td',
      {},
      curve.accelerators == null
        ? (curve.accelerator ?? ABSENT)
        : `${curve.accelerators} × ${curve.accelerator ?? 'unknown'}`,
    ),
    h('td', {}, curve.software ?? ABSENT),
    h('td', { class: 'number' }, number3(one.peak)),
    h('td', { class: 'number' }, number3(fastest(one))),
    h('td', { class: 'number' }, duration(bestTtft(one))),
    h('td', { class: 'number' }, number3(curve.power_kw)),
    h('td', { class: 'number' }, whole(one.points.length)),
    h('td', {}, accuracyWord(curve.accuracy)),
    h('td', {}, compareButtons(curve.id, curve.system_name, context)),
  );
}

export function accuracyWord(accuracy: string): HTMLElement {
  const sign = accuracy === 'passed' ? '✓ ' : accuracy === 'failed' ? '✗ ' : '? ';
  return h('span', { class: `verdict ${accuracy}` }, sign + accuracy);
}

function compareButtons(id: string, name: string, context: Context): HTMLElement {
  const { selection } = context;
  const button = (side: 'a' | 'b'): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        id: `${side}-${id}`,
        'aria-pressed': String(selection[side] === id),
        'aria-label': `Compare ${name} as ${side.toUpperCase()}`,
        click: () => context.set({ [side]: selection[side] === id ? '' : id }, 'replace'),
      },
      side.toUpperCase(),
    );
  return h('span', { class: 'sides' }, button('a'), button('b'));
}
