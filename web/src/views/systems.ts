// The systems as a table: the legend of the charts, and what one compares at a glance.

import { h, replace } from '../base/dom.ts';
import { ABSENT, dateText, duration, number3, whole, words } from '../base/format.ts';
import { type Series, datedAt, instantOf, undrawn } from '../state/curves.ts';
import { basisText, powerOf } from '../state/power.ts';
import { gapText, safetyWord, worstGap } from '../state/safety.ts';
import { type Selection, type Sort, toggled } from '../state/selection.ts';
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

function bestTpot(series: Series): number | null {
  const values = series.points.flatMap((point) => point.tpot_ms_p90 ?? []);
  return values.length === 0 ? null : Math.min(...values);
}

function mostConcurrency(series: Series): number | null {
  return series.points.reduce<number | null>(
    (most, point) => Math.max(most ?? 0, point.concurrency),
    null,
  );
}

// A column that can be chosen. Those that are not usual show where the user asks for them.
export interface Column {
  readonly id: string;
  readonly title: (selection: Selection) => string;
  readonly usual: boolean;
  readonly sort: Sort | null;
  readonly number: boolean;
  readonly cell: (one: Series) => string | HTMLElement;
}

const column = (
  id: string,
  title: string,
  cell: Column['cell'],
  more: Partial<Column> = {},
): Column => ({
  id,
  title: () => title,
  usual: true,
  sort: null,
  number: false,
  cell,
  ...more,
});

const figure = (
  id: string,
  title: string,
  cell: Column['cell'],
  more: Partial<Column> = {},
): Column => column(id, title, cell, { number: true, ...more });

const word = (id: string, title: string, of: (one: Series) => string | null | undefined): Column =>
  column(id, title, (one) => words(of(one)) || ABSENT, { usual: false });

// The system's power, else that of the points shown, as the charts per kW have it; and what it
// rests on, where that is not the provisioned figure that the column is for.
function powerCell({ curve, points }: Series): string {
  const powers = [null, ...points].flatMap((point) => powerOf(curve, point) ?? []);
  const of = curve.power_kw == null ? powers : powers.slice(0, 1);
  if (of.length === 0) return ABSENT;
  const kw = of.map((one) => one.kw);
  const ends = new Set([Math.min(...kw), Math.max(...kw)].map(number3));
  const bases = new Set(of.filter((one) => one.basis !== 'provisioned').map(basisText));
  return [[...ends].join(' to '), ...bases].join(', ');
}

const dayOf = (at: number | null): string | null => (at === null ? null : dateText(at));

export const COLUMNS: readonly Column[] = [
  column('accelerators', 'Accelerators', ({ curve }) =>
    curve.accelerators == null
      ? (curve.accelerator ?? ABSENT)
      : `${curve.accelerators} × ${curve.accelerator ?? 'unknown'}`,
  ),
  column('software', 'Software', ({ curve }) => curve.software ?? ABSENT),
  word('organisation', 'Organisation', ({ curve }) => curve.organisation),
  word('division', 'Division', ({ curve }) => curve.division),
  word('availability', 'Availability', ({ curve }) => curve.availability),
  word('dataset', 'Dataset', ({ curve }) => curve.dataset),
  word('submission', 'Submission', ({ curve }) => curve.submission),
  word('status', 'State of the submission', ({ curve }) => curve.status),
  word('published', 'Published', ({ curve }) => dayOf(instantOf(curve.published))),
  word('measured', 'Measured', ({ curve }) => dayOf(datedAt({ ...curve, published: null }))),
  figure('peak', '', (one) => number3(one.peak), {
    sort: 'peak',
    title: (selection) => `Peak ${UNIT[selection.per]}`,
  }),
  figure('offline', 'Offline', (one) => number3(one.ceiling === null ? null : one.ceiling_value), {
    usual: false,
    title: (selection) => `Offline ${UNIT[selection.per]}`,
  }),
  figure('interactivity', 'Best tok/s per user', (one) => number3(fastest(one)), {
    sort: 'interactivity',
  }),
  figure('ttft', 'Best TTFT P90', (one) => duration(bestTtft(one))),
  figure('tpot', 'Best TPOT P90', (one) => duration(bestTpot(one)), { usual: false }),
  figure('concurrency', 'Highest concurrency', (one) => number3(mostConcurrency(one)), {
    usual: false,
  }),
  figure('kw', 'kW', powerCell),
  figure('points', 'Points', (one) => whole(one.points.length), { sort: 'points' }),
  column('precision', 'Precision', (one) => one.curve.precision ?? ABSENT),
  column('accuracy', 'Accuracy', (one) => accuracyWord(one.curve.accuracy)),
  column('safety', 'Safety (own rules)', (one) => safetyCell(one.curve)),
  figure('gap', 'Attack gap', (one) => {
    const gap = worstGap(one.curve);
    return gap === null ? ABSENT : gapText(gap);
  }),
];

// Columns that are usual where a curve that is shown has them.
const WHERE_KNOWN: Readonly<Record<string, (one: Series) => boolean>> = {
  precision: (one) => (one.curve.precision ?? '') !== '' && safetyWord(one.curve) !== null,
  safety: (one) => safetyWord(one.curve) !== null,
  gap: (one) => worstGap(one.curve) !== null,
};

function safetyCell(curve: Series['curve']): string | HTMLElement {
  const word = safetyWord(curve);
  if (word === null) return ABSENT;
  return h(
    'span',
    { class: `verdict ${word.falls ? 'failed' : 'unknown'}` },
    (word.falls ? '✗ ' : '') + word.text,
  );
}

export function shownColumns({
  selection,
  series,
}: Pick<Context, 'selection' | 'series'>): readonly Column[] {
  return COLUMNS.filter((one) => {
    const known = WHERE_KNOWN[one.id];
    const usual = known === undefined ? one.usual : series.some(known);
    return usual !== selection.columns.includes(one.id);
  });
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
  const chooser = h('details', { class: 'chart-table columns' }, h('summary', {}, 'Columns'));
  const boxes = h('div', { class: 'choices' });
  chooser.append(boxes);
  const others = h('div', { class: 'undrawn' });
  const element = h('section', { class: 'systems' }, head, chooser, body, others);
  return {
    element,
    update(context) {
      const { series, curves } = context;
      head.textContent = `${whole(series.length)} of ${whole(curves.length)} curves`;
      keepingFocus(element, () => {
        replace(boxes, columnBoxes(context));
        replace(body, table(context));
        replace(others, undrawnList(context));
      });
    },
  };
}

function columnBoxes(context: Context): readonly HTMLElement[] {
  const { selection } = context;
  const shown = new Set(shownColumns(context).map((one) => one.id));
  return COLUMNS.map((one) =>
    h(
      'label',
      {},
      h('input', {
        type: 'checkbox',
        id: `column-${one.id}`,
        checked: shown.has(one.id),
        change: () => context.set({ columns: toggled(selection.columns, one.id) }, 'replace'),
      }),
      h('span', { class: 'value' }, one.title(selection)),
    ),
  );
}

function table(context: Context): HTMLElement {
  const { selection, series } = context;
  const sorted = [...series].sort(ORDERS[selection.sort] ?? ORDERS.peak);
  const several = new Set(series.map((one) => one.curve.dataset)).size > 1;
  const heading = (text: string, sort: Sort | null, className = ''): HTMLElement =>
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
          heading('In colour', null),
          heading('System', 'name'),
          shownColumns(context).map((one) =>
            heading(one.title(selection), one.sort, one.number ? 'number' : ''),
          ),
          heading('Compare', null),
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

// Every run has a way to its report, also one that no chart can show.
function undrawnList(context: Context): HTMLElement | null {
  const all = undrawn(context.curves, context.selection);
  if (all.length === 0) return null;
  return h(
    'div',
    {},
    h('h3', {}, all.length === 1 ? 'In no chart' : `In no chart: ${whole(all.length)} runs`),
    h(
      'ul',
      {},
      all.slice(0, ROWS_MAX).map(({ curve, point, why }) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              id: `undrawn-${point.id}`,
              click: () => context.set({ view: 'run', run: point.id }),
            },
            `${curve.system_name} at concurrency ${number3(point.concurrency)}`,
          ),
          `: ${why}`,
        ),
      ),
    ),
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
      ' ', // two words too where nothing is laid out: for a reader, a search, a copy
      h(
        'small',
        {},
        [curve.organisation, curve.division, words(curve.kind), several ? curve.dataset : null]
          .filter((word) => word != null && word !== '')
          .join(' · '),
      ),
    ),
    shownColumns(context).map((column) =>
      h('td', column.number ? { class: 'number' } : {}, column.cell(one)),
    ),
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
