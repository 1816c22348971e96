// Datasets by their Croissant files: what one is, whether it may be used so, where it comes from,
// its files and fields, and the runs that used it.

import type { Datasheet, DatasheetList } from '../api/generated.ts';
import { type Children, h, replace, safeHref } from '../base/dom.ts';
import { ABSENT, number3, whole, words } from '../base/format.ts';
import { type Asked, USE_AXES, type UseAxis, answerOf, regionText } from '../state/data_use.ts';
import { type Selection } from '../state/selection.ts';
import type { Context, Part } from './context.ts';
import { keepingFocus } from './filters.ts';
import { facts } from './facts.ts';
import { findings } from './findings.ts';
import { scrollTable } from './scroll_table.ts';

const ASKED = {
  purposes: 'use_purpose',
  commercial: 'use_commercial',
  nonprofit: 'use_nonprofit',
  methods: 'use_methods',
  regions: 'use_region',
} as const satisfies Record<UseAxis, keyof Selection>;

const QUESTIONS: Readonly<Record<UseAxis, string>> = {
  purposes: 'What for?',
  commercial: 'Is it commercial?',
  nonprofit: 'By a not-for-profit organisation?',
  methods: 'Is a method developed, or applied?',
  regions: 'Where?',
};

const FLAGS: Readonly<Record<UseAxis, string>> = {
  purposes: '--purpose',
  commercial: '--commercial',
  nonprofit: '--nonprofit',
  methods: '--methods',
  regions: '--region',
};

export function makeData(): Part {
  let shown: string | null = null;
  let sheet: Datasheet | null = null;
  const list = h('div', {});
  const one = h('div', { class: 'sheet' });
  const use = h('section', { class: 'act use' });
  const element = h('main', { class: 'review data', id: 'main' }, h('h1', {}, 'Data'), list, one);
  const load = async (context: Context): Promise<void> => {
    const id = context.selection.sheet;
    const all = await context.api.datasheets();
    replace(
      list,
      ...(all.ok ? board(all.value, context) : [h('p', { class: 'error' }, all.message)]),
    );
    if (id === '') return replace(one);
    const found = await context.api.datasheet(id);
    if (id !== context.selection.sheet) return;
    if (!found.ok) return replace(one, h('p', { class: 'error' }, found.message));
    sheet = found.value;
    replace(use, ...useForm(sheet, context));
    replace(one, ...details(sheet, use));
  };
  return {
    element,
    update(context) {
      if (shown !== context.selection.sheet) {
        shown = context.selection.sheet;
        sheet = null;
        void load(context);
      } else if (sheet !== null) {
        const now = sheet;
        keepingFocus(use, () => replace(use, ...useForm(now, context)));
      }
    },
  };
}

function board({ items }: DatasheetList, context: Context): Children {
  if (items.length === 0) {
    return [
      h(
        'p',
        {},
        'No dataset is described yet. A run of ',
        h('code', {}, 'croissant:FILE'),
        ' brings its description; or by itself: ',
        h('code', {}, 'assay import croissant.json'),
        '.',
      ),
    ];
  }
  return [
    scrollTable(
      'Datasets',
      ['Dataset', 'Licence', 'Runs that used it'],
      items.map((item) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                id: `sheet-${item.id}`,
                'aria-current': item.id === context.selection.sheet ? 'true' : null,
                click: () => context.set({ sheet: item.id }),
              },
              item.name,
            ),
          ),
          h('td', {}, item.licences.join('; ') || 'none is named'),
          h('td', {}, whole(item.runs_total)),
        ),
      ),
    ),
  ];
}

const askedOf = (selection: Selection): Asked =>
  Object.fromEntries(USE_AXES.map((axis) => [axis, selection[ASKED[axis]]])) as Asked;

function valueText(axis: UseAxis, value: string): string {
  if (axis === 'regions') return regionText(value);
  return value === '' ? 'not stated' : words(value.replaceAll('-', '_'));
}

const VERDICTS = {
  allow: ['passed', '✓ It may be used so.'],
  deny: ['failed', '✗ It may not be used so.'],
  unknown: ['unknown', '? Whether it may be used so is unknown.'],
} as const;

// The question and its answer. A value that an address has and no policy names is kept as it is.
function useForm(sheet: Datasheet, context: Context): Children {
  const asked = askedOf(context.selection);
  const answer = answerOf(sheet.use, asked);
  const choice = (axis: UseAxis): HTMLElement | null => {
    // What no policy asks about is not asked here.
    if (sheet.use[axis].length < 2) return null;
    const id = `use-${axis}`;
    const box = h(
      'select',
      { id, change: () => context.set({ [ASKED[axis]]: box.value }, 'replace') },
      sheet.use[axis].map((value) => h('option', { value }, valueText(axis, value))),
    );
    box.value = sheet.use[axis].includes(asked[axis]) ? asked[axis] : '';
    return h('p', {}, h('label', { for: id }, QUESTIONS[axis]), ' ', box);
  };
  const flags = USE_AXES.filter((axis) => asked[axis] !== '' && asked[axis] !== 'ZZ').map(
    (axis) => ` ${FLAGS[axis]} ${asked[axis]}`,
  );
  return [
    h('h3', {}, 'May it be used so?'),
    h('div', { class: 'fields' }, USE_AXES.map(choice)),
    answer === null
      ? h('p', { role: 'status' }, 'The description has no answer to this.')
      : h(
          'div',
          { role: 'status' },
          h(
            'p',
            { class: `verdict answer ${VERDICTS[answer.verdict][0]}` },
            VERDICTS[answer.verdict][1],
          ),
          h(
            'ul',
            { class: 'plain' },
            answer.decided.map((clause) =>
              h('li', {}, h('b', {}, `${clause.where}: `), clause.what),
            ),
          ),
        ),
    h(
      'p',
      { class: 'hint' },
      'What policies and licences say, read by a program: no legal advice. ',
      'Diseases need an ontology: ',
      h('code', {}, `assay dataset croissant:FILE --check${flags.join('')}`),
    ),
  ];
}

const linked = (text: string): string | HTMLElement => {
  const href = /^https?:/i.test(text) ? safeHref(text) : null;
  return href === null ? text : h('a', { href, rel: 'noopener noreferrer' }, text);
};

const lines = (texts: readonly string[]): HTMLElement | null =>
  texts.length === 0
    ? null
    : h('span', {}, texts.map((one, i) => [i > 0 ? '; ' : null, linked(one)]).flat());

function details(sheet: Datasheet, use: HTMLElement): Children {
  return [
    h('h2', {}, sheet.name),
    sheet.description ? h('p', { class: 'prose' }, sheet.description) : null,
    facts([
      ['Licence', lines(sheet.licences) ?? 'none is named'],
      ['Creators', lines(sheet.creators)],
      ['Publishers', lines(sheet.publishers)],
      ['Version', sheet.version],
      ['Published', sheet.published],
      ['Languages', sheet.languages.join(', ')],
      ['Keywords', sheet.keywords.join(', ')],
      ['Address', sheet.url == null ? null : linked(sheet.url)],
      ['Cite as', sheet.cite_as],
      ['Croissant', lines(sheet.conforms_to) ?? 'no version is named: read as 1.0'],
    ]),
    use,
    h('section', {}, h('h3', {}, 'From where, to what'), chain(sheet)),
    ...runsOf(sheet),
    ...responsible(sheet),
    ...filesOf(sheet),
    ...fieldsOf(sheet),
    h('section', {}, h('h3', {}, 'Check against the specification'), findings(sheet.findings)),
  ];
}

const RELATIONS = {
  wasDerivedFrom: 'was derived from',
  wasGeneratedBy: 'was generated by',
  wasAttributedTo: 'was attributed to',
} as const;

// Sources, the dataset, and the runs that it went into: the walk of `assay dataset --provenance`.
function chain(sheet: Datasheet): HTMLElement {
  const left = sheet.provenance_total - sheet.provenance.length;
  return h(
    'ol',
    { class: 'chain' },
    sheet.provenance.length === 0
      ? h('li', {}, 'The file names no source.')
      : sheet.provenance.map((step) =>
          h(
            'li',
            {},
            h('b', {}, step.of === '' ? sheet.name : step.of),
            ` ${RELATIONS[step.relation]} `,
            linked(step.what),
            step.at ? `, ended ${step.at}` : null,
          ),
        ),
    left > 0 ? h('li', {}, `and ${whole(left)} more steps`) : null,
    h(
      'li',
      {},
      sheet.runs_total === 0
        ? 'No run in this store used it.'
        : `${whole(sheet.runs_total)} ${sheet.runs_total === 1 ? 'run' : 'runs'} used it, each ` +
            'with a result of its own: below.',
    ),
  );
}

function section(
  title: string,
  total: number,
  heads: readonly string[],
  rows: readonly HTMLTableRowElement[],
): readonly HTMLElement[] {
  if (rows.length === 0) return [];
  return [
    h(
      'section',
      {},
      h('h3', {}, title),
      scrollTable(title, heads, rows),
      total > rows.length
        ? h('p', { class: 'hint' }, `The first ${rows.length} of ${whole(total)}.`)
        : null,
    ),
  ];
}

const row = (...cells: readonly (string | Node | null | undefined)[]): HTMLTableRowElement =>
  h(
    'tr',
    {},
    cells.map((cell, i) =>
      i === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell || ABSENT),
    ),
  );

const runHref = (run: string, model: string): string =>
  `#/run?${new URLSearchParams({ model, run }).toString()}`;

const runsOf = (sheet: Datasheet): readonly HTMLElement[] =>
  section(
    'Runs that used it',
    sheet.runs_total,
    ['System', 'Model', 'Kind', 'Concurrency', 'Throughput'],
    sheet.runs.map((run) =>
      row(
        h('a', { href: runHref(run.run, run.model ?? '') }, run.system_name ?? run.run),
        run.model,
        run.kind,
        number3(run.concurrency),
        run.system_tps == null ? null : `${number3(run.system_tps)} tok/s`,
      ),
    ),
  );

const responsible = (sheet: Datasheet): readonly HTMLElement[] =>
  sheet.responsible_ai.length === 0
    ? []
    : [
        h(
          'section',
          {},
          h('h3', {}, 'Responsible AI'),
          facts(sheet.responsible_ai.map((one) => [one.name, lines(one.says)])),
        ),
      ];

const filesOf = (sheet: Datasheet): readonly HTMLElement[] =>
  section(
    'Files',
    sheet.files_total,
    ['File', 'Format', 'Size', 'Address or pattern', 'Within', 'SHA-256'],
    sheet.files.map((file) =>
      row(
        file.id,
        file.format,
        file.size,
        file.url == null ? file.includes : linked(file.url),
        file.within,
        file.sha256 == null ? null : h('span', { class: 'digest' }, file.sha256.slice(0, 16)),
      ),
    ),
  );

const fieldsOf = (sheet: Datasheet): readonly HTMLElement[] =>
  section(
    'Fields',
    sheet.fields_total,
    ['Field', 'Type', 'What it is'],
    sheet.fields.map((field) => row(field.id, field.type, field.description)),
  );
