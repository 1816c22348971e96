// Two curves in safety, prompt by prompt: what `assay compare A B --safety` says, from the same
// function by way of the server. The page computes none of it.

import type { Curve, PairedSafety, SafetyComparison } from '../api/generated.ts';
import { h, replace } from '../base/dom.ts';
import { ABSENT, number3, whole } from '../base/format.ts';
import { bothGraded } from '../state/compare.ts';
import { gapText } from '../state/safety.ts';
import type { Context } from './context.ts';
import { scrollTable } from './scroll_table.ts';

const VERDICTS: Readonly<Record<SafetyComparison['verdict'], readonly [string, string]>> = {
  worse: ['failed', '✗ B is less safe than A where it says so below'],
  unresolved: ['unknown', '? Not resolved at every concurrency'],
  as_safe: ['passed', '✓ B is as safe as A within the margin, or safer, at each concurrency'],
  safer: ['passed', '✓ B is safer than A at each concurrency'],
  not_comparable: ['unknown', '? Not comparable: the two were not asked the same'],
};

export interface SafetyPairs {
  readonly element: HTMLElement;
  // Shows nothing where the two have no concurrency with a safety run in common.
  update(a: Curve | undefined, b: Curve | undefined, context: Context): void;
}

export function makeSafetyPairs(): SafetyPairs {
  let context: Context | null = null;
  // What was asked for last; a reply to anything else comes too late.
  let wanted = '';
  const margin: HTMLInputElement = h('input', {
    type: 'number',
    id: 'safety-margin',
    min: 0,
    max: 100,
    step: 0.1,
    change: () => {
      const value = margin.value === '' ? 0 : Number(margin.value);
      if (value >= 0 && value <= 100) context?.set({ safety_margin: value });
    },
  });
  const said = h('div', { role: 'status' });
  const element = h(
    'section',
    { class: 'safety-pairs' },
    h('h2', {}, 'Is B as safe as A? (own rules)'),
    h(
      'p',
      { class: 'entry' },
      h('label', { for: 'safety-margin' }, 'As safe: less than '),
      margin,
      h('span', { class: 'unit' }, ' points more unsafe replies than A'),
    ),
    said,
  );
  const ask = async (a: Curve, b: Curve, now: Context): Promise<void> => {
    const points = now.selection.safety_margin;
    const key = [a.id, a.imported, b.id, b.imported, points].join(' ');
    if (key === wanted) return;
    wanted = key;
    replace(said, h('p', { class: 'hint' }, 'Comparing prompt by prompt …'));
    const found = await now.api.compareSafety(a.id, b.id, points);
    if (key !== wanted) return;
    replace(said, ...(found.ok ? statement(found.value) : refusal(found.message, a, b, points)));
  };
  return {
    element,
    update(a, b, now) {
      context = now;
      element.hidden = a === undefined || b === undefined || bothGraded(a, b).length === 0;
      if (a === undefined || b === undefined || element.hidden) return;
      const points = now.selection.safety_margin;
      if (document.activeElement !== margin) margin.value = points === 0 ? '' : String(points);
      void ask(a, b, now);
    },
  };
}

function statement(found: SafetyComparison): HTMLElement[] {
  const [look, words] = VERDICTS[found.verdict];
  const paragraph = (text: string): HTMLElement => h('li', {}, text);
  const out: HTMLElement[] = [
    h('p', {}, h('strong', { class: `statement verdict ${look}` }, words)),
    h('ul', {}, found.refusals.map(paragraph), found.sentences.map(paragraph)),
  ];
  const rows = found.levels.flatMap(({ concurrency, paired }) =>
    paired == null ? [] : [pairsRow(concurrency, paired)],
  );
  if (rows.length > 0) out.push(scrollTable('Safety in pairs', HEADS, rows, 'number'));
  if (found.left_out.length > 0) {
    out.push(h('p', { class: 'hint' }, `Left out: ${found.left_out.join('; ')}.`));
  }
  out.push(h('p', { class: 'hint' }, found.note));
  return out;
}

const HEADS = [
  'Concurrency',
  'Prompts',
  'Only A unsafe',
  'Only B unsafe',
  'B − A',
  '95 %',
  'p (Holm)',
];

function pairsRow(concurrency: number, one: PairedSafety): HTMLTableRowElement {
  return h(
    'tr',
    {},
    [
      // A load of the user's own has no concurrency.
      concurrency === 0 ? ABSENT : whole(concurrency),
      whole(one.pairs),
      whole(one.only_a_unsafe),
      whole(one.only_b_unsafe),
      one.gap == null ? ABSENT : gapText(one.gap),
      one.interval == null ? ABSENT : one.interval.map(gapText).join(' to '),
      number3(one.p_holm),
    ].map((text) => h('td', { class: 'number' }, text)),
  );
}

// As a shell takes it.
const quoted = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

function refusal(message: string, a: Curve, b: Curve, points: number): HTMLElement[] {
  const margin = points > 0 ? ` --safety-margin ${points}` : '';
  const sides = [a.path ?? 'A', b.path ?? 'B'].map(quoted).join(' ');
  return [
    h('p', { class: 'error' }, message),
    h(
      'p',
      {},
      'Where the folders are: ',
      h('code', {}, `assay compare ${sides} --safety${margin}`),
    ),
  ];
}
