// The acts of a role as forms. Each has one key until the hub took it, so that a second click, or
// a reply that got lost, counts once.

import { h, replace } from '../base/dom.ts';
import { type Act, type Federation, type Party, newKey } from '../api/hub_client.ts';
import { levelsOf, orderable, partners } from '../state/hub.ts';

export interface FormField {
  readonly element: HTMLElement;
  update(federation: Federation): void;
}

type Send = (act: Act) => Promise<boolean>;
// What goes into the act beside kind and key; a text: why it cannot be sent.
type Fields = Readonly<Record<string, unknown>> | string;

// Names that a release may have: docs/formats/sites.md.
const FIGURES = [
  'accuracy',
  'completed',
  'failed',
  'qps',
  'tps',
  'tps_per_user',
  'ttft_ms_p50',
  'ttft_ms_p90',
  'ttft_ms_p99',
  'tpot_ms_p50',
  'tpot_ms_p90',
  'tpot_ms_p99',
  'latency_ms_p50',
  'latency_ms_p99',
] as const;

export function formsFor(party: Party, send: Send): readonly FormField[] {
  switch (party.role) {
    case 'benchmark_owner':
      return [orderForm(party, send), associateForm(party, send), benchmarkForm(send)];
    case 'model_owner':
      return [associateForm(party, send), modelForm(send)];
    case 'data_owner':
      return [associateForm(party, send)];
  }
}

function form(
  title: string,
  button: string,
  kind: Act['kind'],
  parts: readonly Node[],
  fields: () => Fields,
  send: Send,
): HTMLFormElement {
  let key = newKey();
  const problem = h('p', { class: 'error', role: 'alert' });
  const submit = h('button', { type: 'submit' }, button);
  const element: HTMLFormElement = h(
    'form',
    {
      class: 'act',
      'aria-label': title,
      submit: (event: Event) => {
        event.preventDefault();
        const given = fields();
        problem.textContent = typeof given === 'string' ? given : '';
        if (typeof given === 'string') return;
        submit.disabled = true;
        void send({ kind, key, ...given }).then((taken) => {
          submit.disabled = false;
          if (!taken) return;
          key = newKey();
          element.reset();
        });
      },
    },
    h('h2', {}, title),
    parts,
    problem,
    submit,
  );
  return element;
}

let made = 0;

function labelled<E extends HTMLElement>(text: string, control: E): readonly [HTMLElement, E] {
  made += 1;
  const id = `hub-field-${made}`;
  control.id = id;
  return [h('div', { class: 'field' }, h('label', { for: id }, text), control), control];
}

const input = (attributes: Record<string, string | number | boolean>): HTMLInputElement =>
  h('input', { required: true, autocomplete: 'off', ...attributes });

function fill(select: HTMLSelectElement, values: readonly string[], none: string): void {
  const had = select.value;
  replace(
    select,
    values.length === 0
      ? h('option', { value: '' }, none)
      : values.map((value) => h('option', { value }, value)),
  );
  if (values.includes(had)) select.value = had;
  select.disabled = values.length === 0;
}

function modelForm(send: Send): FormField {
  const [idBox, id] = labelled('Id', input({ maxlength: 64 }));
  const [textBox, text] = labelled('Description', input({ required: false }));
  return {
    element: form(
      'Register a model',
      'Register',
      'add_model',
      [idBox, textBox],
      () => ({ id: id.value.trim(), description: text.value.trim() }),
      send,
    ),
    update: () => undefined,
  };
}

function benchmarkForm(send: Send): FormField {
  const [idBox, id] = labelled('Id', input({ maxlength: 64 }));
  const [textBox, text] = labelled('Description', input({ required: false }));
  const [levelsBox, levels] = labelled('Concurrency, with commas', input({ inputmode: 'numeric' }));
  const [samplesBox, samples] = labelled(
    'Queries of each level',
    input({ type: 'number', min: 1 }),
  );
  const [tokensBox, tokens] = labelled(
    'Tokens of a reply at most',
    input({ type: 'number', min: 1 }),
  );
  const [scorerBox, scorer] = labelled('Scorer, or nothing', input({ required: false }));
  const boxes = FIGURES.map((name) => h('input', { type: 'checkbox', value: name }));
  const figures = h(
    'fieldset',
    {},
    h('legend', {}, 'Figures that you ask for'),
    h(
      'div',
      { class: 'choices' },
      boxes.map((box) => h('label', {}, box, h('span', { class: 'value' }, box.value))),
    ),
  );
  return {
    element: form(
      'Register a benchmark',
      'Register',
      'add_benchmark',
      [
        h('div', { class: 'fields' }, idBox, textBox, levelsBox, samplesBox, tokensBox, scorerBox),
        figures,
      ],
      () => {
        const concurrency = levelsOf(levels.value);
        if (concurrency === null) return 'Concurrency: whole numbers above 0, as in 1, 8';
        const fields = boxes.filter((box) => box.checked).map((box) => box.value);
        if (fields.length === 0) return 'Figures: choose one at least';
        const measurement = {
          concurrency,
          samples: Number(samples.value),
          max_output_tokens: Number(tokens.value),
          ...(scorer.value.trim() === '' ? {} : { scorer: scorer.value.trim() }),
          fields,
        };
        return { id: id.value.trim(), description: text.value.trim(), measurement };
      },
      send,
    ),
    update: () => undefined,
  };
}

function associateForm(party: Party, send: Send): FormField {
  const [benchmarkBox, benchmark] = labelled('Benchmark', h('select', {}));
  const [otherBox, other] = labelled(
    party.role === 'benchmark_owner' ? 'Dataset or model' : 'Yours',
    h('select', {}),
  );
  return {
    element: form(
      'Ask for an association',
      'Ask the other side',
      'associate',
      [h('div', { class: 'fields' }, benchmarkBox, otherBox)],
      () => {
        const [kind, id] = other.value.split(' ');
        if (benchmark.value === '' || kind === undefined || id === undefined) {
          return 'Both sides have to be registered first.';
        }
        return { benchmark: benchmark.value, [kind]: id };
      },
      send,
    ),
    update(federation) {
      const { benchmarks, others } = partners(federation, party);
      fill(benchmark, benchmarks, 'none is registered');
      fill(other, others, 'none is registered');
    },
  };
}

function orderForm(party: Party, send: Send): FormField {
  const [idBox, id] = labelled('Id of the run', input({ maxlength: 64 }));
  const [whatBox, what] = labelled('Benchmark, dataset, model', h('select', {}));
  return {
    element: form(
      'Order a run',
      'Order',
      'order',
      [h('div', { class: 'fields' }, idBox, whatBox)],
      () => {
        const [benchmark, dataset, model] = what.value.split(', ');
        if (model === undefined) return 'Nothing is approved by both sides yet.';
        return { id: id.value.trim(), benchmark, dataset, model };
      },
      send,
    ),
    update(federation) {
      fill(
        what,
        orderable(federation, party).map((o) => `${o.benchmark}, ${o.dataset}, ${o.model}`),
        'nothing is approved by both sides',
      );
    },
  };
}
