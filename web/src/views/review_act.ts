// One more entry of a submission's history, by whom the server lets: the form asks for what the
// kind of act needs, and nothing else. What is entered is never changed afterwards, and the form
// says so.

import type { Act, Submission } from '../api/generated.ts';
import type { Result } from '../base/result.ts';
import { h, replace } from '../base/dom.ts';
import { words } from '../base/format.ts';

type Field = Exclude<keyof Act, 'kind'>;

const OBJECTION_KINDS = [
  'compliance',
  'methodology',
  'reproducibility',
  'validity',
  'division',
  'availability',
  'suspect',
  'cosmetic',
];

const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  objection: ['objection_kind', 'text', 'clause', 'point'],
  answer: ['objection', 'text'],
  reply: ['objection', 'text'],
  retract: ['objection'],
  accept: ['objection'],
  rule: ['objection', 'upheld', 'text'],
  finding: ['rule', 'severity', 'text'],
  comment: ['text'],
  withdraw_point: ['point'],
  embargo: ['date'],
};

export type Send = (act: Act) => Promise<Result<unknown>>;

// Null where nothing may be done by this session.
export function actForm(item: Submission, send: Send, done: () => void): HTMLElement | null {
  const allowed = item.allowed ?? [];
  if (allowed.length === 0) return null;
  const kind = h(
    'select',
    { id: 'act-kind', change: () => build() },
    allowed.map((one) => h('option', { value: one }, words(one))),
  );
  const fields = h('div', { class: 'fields' });
  const said = h('p', { class: 'error', role: 'alert' });
  const build = (): void => {
    replace(
      fields,
      (FIELDS[kind.value] ?? ['text']).map((field) => fieldOf(field, item)),
    );
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const reply = await send(readAct(kind.value, fields));
    if (reply.ok) done();
    else said.textContent = reply.message;
  };
  build();
  return h(
    'form',
    {
      class: 'act',
      'aria-label': 'Add to the history',
      submit: (event: Event) => void submit(event),
    },
    h('h3', {}, 'Add to the history'),
    h('div', { class: 'field' }, h('label', { for: 'act-kind' }, 'What'), kind),
    fields,
    h('button', { type: 'submit' }, 'Add'),
    h('p', { class: 'hint' }, 'An entry is never changed and never removed.'),
    said,
  );
}

function fieldOf(field: Field, item: Submission): HTMLElement {
  const id = `act-${field}`;
  return h(
    'div',
    { class: field === 'text' ? 'field wide' : 'field' },
    h('label', { for: id }, words(field)),
    control(field, id, item),
  );
}

function control(field: Field, id: string, item: Submission): HTMLElement {
  const select = (options: readonly (readonly [string, string])[]): HTMLElement =>
    h(
      'select',
      { id, name: field },
      options.map(([value, text]) => h('option', { value }, text)),
    );
  switch (field) {
    case 'text':
      return h('textarea', { id, name: field, rows: 4, maxlength: 20000, required: true });
    case 'objection':
      return select(
        (item.objections ?? []).map((one) => [
          one.id ?? '',
          `${one.id ?? ''}: ${words(one.kind)}, ${words(one.state)}`,
        ]),
      );
    case 'objection_kind':
      return select(OBJECTION_KINDS.map((one) => [one, words(one)]));
    case 'severity':
      return select(['error', 'warning', 'info'].map((one) => [one, one]));
    case 'upheld':
      return select([
        ['true', 'upheld'],
        ['false', 'dismissed'],
      ]);
    case 'date':
      return h('input', { id, name: field, type: 'date', required: true });
    default:
      return h('input', { id, name: field, type: 'text', maxlength: 200 });
  }
}

export function readAct(kind: string, fields: ParentNode): Act {
  const out: Record<string, unknown> = { kind };
  for (const one of fields.querySelectorAll<HTMLInputElement>('[name]')) {
    if (one.value === '') continue;
    out[one.name] = one.name === 'upheld' ? one.value === 'true' : one.value;
  }
  return out as unknown as Act;
}
