// The review board: submissions with what is owed, and one submission's whole history.

import type { Curve, Submission } from '../api/generated.ts';
import { type Children, h, replace } from '../base/dom.ts';
import { ABSENT, counted, instant, number3, whole, words } from '../base/format.ts';
import type { Context, Part } from './context.ts';
import { actForm } from './review_act.ts';
import { facts } from './facts.ts';
import { findings } from './findings.ts';
import { accuracyWord } from './systems.ts';

export function makeReview(): Part {
  let shown: string | null = null;
  const list = h('div', {
    class: 'scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Submissions',
  });
  const one = h('div', { class: 'submission' });
  const element = h(
    'main',
    { class: 'review', id: 'main' },
    h('h1', {}, 'Review board'),
    list,
    one,
  );
  const load = async (context: Context): Promise<void> => {
    const { submission } = context.selection;
    const all = await context.api.submissions();
    replace(
      list,
      ...(all.ok ? board(all.value.items, context) : [h('p', { class: 'error' }, all.message)]),
    );
    if (submission === '') return replace(one);
    const detail = await context.api.submission(submission);
    const ids = detail.ok ? (detail.value.curves ?? []) : [];
    const found = await Promise.all(ids.map((id) => context.api.curve(id)));
    if (submission !== shown) return;
    const curves = found.flatMap((curve) => (curve.ok ? [curve.value] : []));
    replace(
      one,
      ...(detail.ok
        ? [
            ...details(detail.value, curves, context),
            actForm(
              detail.value,
              (act) => context.api.act(submission, act),
              () => void load(context),
            ),
          ]
        : [h('p', { class: 'error' }, detail.message)]),
    );
  };
  return {
    element,
    update(context) {
      if (shown === context.selection.submission) return;
      shown = context.selection.submission;
      void load(context);
    },
  };
}

function board(items: readonly Submission[], context: Context): Children {
  if (items.length === 0) {
    if (!context.api.live) {
      return [h('p', {}, 'No submission is public here. Those under review are in no copy.')];
    }
    return [
      h('p', {}, 'No submission yet. One begins with ', h('code', {}, 'assay review submit'), '.'),
    ];
  }
  return [
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          [
            'Submission',
            'Organisation',
            'Division',
            'State',
            'Cohort',
            'Next due',
            'Open objections',
          ].map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        items.map((item) => {
          const due = item.due?.[0];
          const late = (due?.business_days_left ?? 0) < 0;
          return h(
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
                  click: () => context.set({ submission: item.id }),
                },
                item.id,
              ),
            ),
            h('td', {}, item.organisation),
            h('td', {}, words(item.division)),
            h('td', {}, words(item.state)),
            h('td', {}, item.cohort ?? ABSENT),
            h(
              'td',
              {},
              due === undefined
                ? ABSENT
                : h(
                    'span',
                    { class: late ? 'verdict failed' : null },
                    `${words(due.what)}: ${due.by ?? ''}, ${due.date ?? ''}${late ? ', late' : ''}`,
                  ),
            ),
            h(
              'td',
              { class: 'number' },
              whole((item.objections ?? []).filter((o) => o.state === 'open').length),
            ),
          );
        }),
      ),
    ),
  ];
}

function details(item: Submission, curves: readonly Curve[], context: Context): Children {
  return [
    h('h2', {}, item.id),
    facts([
      ['Organisation', item.organisation],
      ['State', words(item.state)],
      ['Mode', words(item.mode)],
      ['Cohort', item.cohort],
      ['Published from', item.cohort_date],
      ['Submitted', instant(item.submitted)],
      ['Objections from', item.review_from],
      ['Objections until', item.review_to],
      ['Answers until', item.resolution_to],
      [
        'History',
        item.history_intact === true
          ? 'intact: each entry names the hash of the one before'
          : item.history_intact === false
            ? 'BROKEN: an entry was changed'
            : null,
      ],
    ]),
    h('h3', {}, 'Due'),
    (item.due ?? []).length === 0
      ? h('p', {}, 'Nothing.')
      : h(
          'ul',
          {},
          (item.due ?? []).map((due) =>
            h(
              'li',
              {},
              `${words(due.what)}: ${due.by ?? ''} by ${due.date ?? ''} ` +
                `(${due.business_days_left ?? '?'} business days left)`,
            ),
          ),
        ),
    h('h3', {}, 'Curves, and findings of the rules'),
    ...(curves.length === 0 ? [h('p', {}, 'None of its curves is in this store.')] : []),
    ...curves.map((curve) => checked(curve, context)),
    h('h3', {}, 'Findings of reviewers'),
    findings(item.findings ?? []),
    h('h3', {}, 'Objections'),
    (item.objections ?? []).length === 0
      ? h('p', {}, 'None.')
      : h(
          'ul',
          { class: 'findings' },
          (item.objections ?? []).map((o) =>
            h(
              'li',
              { class: o.weight ?? '' },
              h(
                'strong',
                {},
                `${o.id ?? ''} ${words(o.kind)} (${o.weight ?? ''}), ${words(o.state)}`,
              ),
              ` ${o.text ?? ''} `,
              o.clause ? h('span', { class: 'clause' }, o.clause) : null,
              (o.answers ?? []).map((answer) =>
                h('p', { class: 'fix' }, `${answer.by ?? ''}: ${answer.text ?? ''}`),
              ),
            ),
          ),
        ),
    h('h3', {}, 'History'),
    h(
      'ol',
      { class: 'history' },
      (item.history ?? []).map((entry) =>
        h(
          'li',
          {},
          `${instant(entry.at)} · ${entry.actor} (${entry.role}) · ${words(entry.kind)} `,
          h('code', {}, (entry.hash ?? '').slice(0, 12)),
          said(entry.kind ?? '', entry.body ?? {}).map((text) => h('p', { class: 'fix' }, text)),
        ),
      ),
    ),
  ];
}

// What `assay check` found at each point of a curve; the words stand in the point's report.
function checked(curve: Curve, context: Context): HTMLElement {
  const { model } = curve;
  const points = [...(curve.points ?? [])].sort((p, q) => p.concurrency - q.concurrency);
  const link = (text: string, click: () => void): HTMLElement =>
    h('button', { type: 'button', class: 'link', click }, text);
  const found = points.filter((point) => (point.findings ?? 0) > 0);
  return h(
    'p',
    { class: 'checked' },
    link(`${curve.system_name}, ${model}`, () =>
      context.set({ view: 'explore', model, pinned: [curve.id] }),
    ),
    `: ${counted(points.length, 'point')}, accuracy `,
    accuracyWord(curve.accuracy),
    ', ',
    found.length === 0
      ? 'no findings of the rules.'
      : `${counted(curve.findings ?? 0, 'finding')}: `,
    ...found.flatMap((point, i) => [
      i > 0 ? ', ' : null,
      link(`${point.findings ?? 0} at concurrency ${number3(point.concurrency)}`, () =>
        context.set({ view: 'run', model, run: point.id }),
      ),
    ]),
  );
}

// What an entry says and no other part of the page shows.
export function said(kind: string, body: Readonly<Record<string, unknown>>): readonly string[] {
  const above = ['objection', 'answer', 'finding'].includes(kind);
  return ['text', 'note', 'point', 'date'].flatMap((key) => {
    const value = body[key];
    if (typeof value !== 'string' || value === '' || (above && key === 'text')) return [];
    return [key === 'text' || key === 'note' ? value : `${key}: ${value}`];
  });
}
