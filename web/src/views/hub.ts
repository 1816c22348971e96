// The page of `assay hub serve`: what waits for this party, what is registered, associated and
// run, and the acts of its role. The token stays in this tab; acts go to the hub, which decides.

import { h, replace } from '../base/dom.ts';
import { words } from '../base/format.ts';
import type { Result } from '../base/result.ts';
import {
  type Act,
  type Association,
  type Federation,
  type HubApi,
  type Party,
  type Preparation,
  hubApi,
  newKey,
} from '../api/hub_client.ts';
import { mayApprove, mayReject } from '../state/hub.ts';
import { type FormField, formsFor } from './hub_forms.ts';
import { scrollTable } from './scroll_table.ts';

const KEPT = 'assay-hub-token';
const REFRESH_MS = 5000;

export function startHub(root: HTMLElement): void {
  const token = sessionStorage.getItem(KEPT);
  if (token === null) signIn(root, '');
  else void enter(root, token);
}

function signIn(root: HTMLElement, problem: string): void {
  document.title = 'Assay hub';
  const token = h('input', { type: 'password', id: 'token', autocomplete: 'off', required: true });
  replace(
    root,
    h(
      'main',
      { class: 'review hub', id: 'main' },
      h('h1', {}, 'Assay hub'),
      h('p', {}, 'Evaluation where the data live. This page knows ids, descriptions and digests.'),
      h(
        'form',
        {
          class: 'act',
          submit: (event: Event) => {
            event.preventDefault();
            void enter(root, token.value.trim());
          },
        },
        h('h2', {}, 'Sign in'),
        h('p', { class: 'error', role: 'alert' }, problem),
        h('label', { for: 'token' }, 'Token of your organisation in one role'),
        token,
        h('p', { class: 'hint' }, 'Whoever runs the hub makes one: assay hub token.'),
        h('button', { type: 'submit' }, 'Sign in'),
      ),
    ),
  );
  token.focus();
}

async function enter(root: HTMLElement, token: string): Promise<void> {
  const api = hubApi(token);
  const party = await api.party();
  if (!party.ok) {
    sessionStorage.removeItem(KEPT);
    return signIn(root, party.message);
  }
  sessionStorage.setItem(KEPT, token);
  await new HubPage(root, api, party.value).load();
}

type Row = readonly (Node | string)[];

class HubPage {
  private readonly said = h('p', { class: 'error', role: 'alert' });
  private readonly waiting = h('section', { 'aria-label': 'Waits for you' });
  private readonly work = h('div', {});
  private readonly registered = h('div', {});
  private readonly forms: readonly FormField[];
  private federation: Federation | null = null;

  constructor(
    root: HTMLElement,
    private readonly api: HubApi,
    private readonly party: Party,
  ) {
    document.title = `Assay hub: ${party.organisation}`;
    this.forms = formsFor(party, (act) => this.send(act));
    replace(
      root,
      h(
        'main',
        { class: 'review hub', id: 'main' },
        h(
          'header',
          {},
          h('h1', {}, 'Assay hub'),
          h('p', {}, `${party.organisation}, ${words(party.role)} `),
          h('button', { type: 'button', class: 'quiet', click: signOut(root) }, 'Sign out'),
        ),
        this.said,
        this.waiting,
        this.work,
        this.forms.map((form) => form.element),
        this.registered,
      ),
    );
    const timer = window.setInterval(() => {
      if (!this.said.isConnected) window.clearInterval(timer);
      else if (!document.hidden) void this.load();
    }, REFRESH_MS);
  }

  async load(): Promise<void> {
    const now = await this.api.federation();
    if (!now.ok) return this.say(now.message);
    if (now.value.head === this.federation?.head) return;
    this.federation = now.value;
    for (const form of this.forms) form.update(now.value);
    replace(this.waiting, ...this.waits(now.value));
    replace(this.work, ...this.workTables(now.value));
    replace(this.registered, ...registeredTables(now.value));
  }

  private say(message: string): void {
    this.said.textContent = message;
  }

  // True when the hub took it.
  private async send(act: Act): Promise<boolean> {
    const done: Result<unknown> = await this.api.act(act);
    this.say(done.ok ? '' : done.message);
    if (done.ok) await this.load();
    else this.said.scrollIntoView({ block: 'nearest' });
    return done.ok;
  }

  private waits(now: Federation): readonly Node[] {
    const open = now.associations.filter((one) => mayApprove(one, now, this.party));
    if (open.length === 0) return [];
    return [
      h('h2', {}, 'Waits for you'),
      h(
        'ul',
        { class: 'plain' },
        open.map((one) =>
          h(
            'li',
            {},
            `${one.asked_by} asks to put ${otherOf(one)} together with the benchmark ` +
              `${one.benchmark}. `,
            this.button('approve', one),
            ' ',
            this.button('reject', one),
          ),
        ),
      ),
    ];
  }

  private button(kind: 'approve' | 'reject', one: Association): HTMLElement {
    const { benchmark, dataset, model } = one;
    const what = dataset === undefined ? { model } : { dataset };
    return h(
      'button',
      {
        type: 'button',
        'aria-label': `${words(kind)} ${otherOf(one)} for ${benchmark}`,
        click: () => void this.send({ kind, key: newKey(), benchmark, ...what }),
      },
      kind === 'approve' ? 'Approve' : 'Reject',
    );
  }

  private workTables(now: Federation): readonly Node[] {
    return [
      ...table(
        'Runs',
        ['Run', 'Benchmark', 'Dataset', 'Model', 'Site', 'State', 'Released'],
        now.runs.map((run) => [
          run.id,
          run.benchmark,
          run.dataset,
          run.model,
          run.site,
          words(run.state) + (run.reason === undefined ? '' : `: ${words(run.reason)}`),
          run.document === undefined
            ? ''
            : h(
                'details',
                {},
                h('summary', {}, `Figures of ${run.id}`),
                h('pre', { tabindex: 0, class: 'scroll' }, run.document),
              ),
        ]),
        'No run of yours yet.',
      ),
      ...table(
        'Associations',
        ['Benchmark', 'With', 'Asked by', 'State', 'Act'],
        now.associations.map((one) => [
          one.benchmark,
          otherOf(one),
          `${one.asked_by}, ${words(one.asked_as)}`,
          one.approval,
          mayReject(one, now, this.party) ? this.button('reject', one) : '',
        ]),
        'No association of yours yet.',
      ),
    ];
  }
}

function registeredTables(now: Federation): readonly Node[] {
  return [
    ...table(
      'Benchmarks',
      ['Id', 'Owner', 'Description', 'Asks of a site'],
      now.benchmarks.map((one) => [one.id, one.owner, one.description, asksOf(one.measurement)]),
      'None is registered.',
    ),
    ...table(
      'Datasets',
      ['Id', 'Owner', 'Description', 'Rows', 'SHA-256'],
      now.datasets.map((one) => [
        one.id,
        one.owner,
        one.description,
        String(one.rows),
        h('code', { class: 'digest' }, one.sha256),
      ]),
      'None is registered. A site does it: assay site register ID --send',
    ),
    ...(now.preparations.length === 0
      ? []
      : table(
          'Preparation of data',
          ['Dataset', 'Site', 'Steps done'],
          now.preparations.map((one) => [one.id, one.owner, one.steps.map(stepOf).join(', ')]),
          '',
        )),
    ...table(
      'Models',
      ['Id', 'Owner', 'Description'],
      now.models.map((one) => [one.id, one.owner, one.description]),
      'None is registered.',
    ),
    h(
      'p',
      { class: 'hint' },
      `History: ${String(now.entries)} acts, head `,
      h('code', { class: 'digest' }, now.head),
    ),
  ];
}

const signOut = (root: HTMLElement) => (): void => {
  sessionStorage.removeItem(KEPT);
  signIn(root, '');
};

const otherOf = (one: Association): string =>
  one.dataset === undefined ? `model ${one.model ?? ''}` : `dataset ${one.dataset}`;

const stepOf = (one: Preparation['steps'][number]): string =>
  `${String(one.done)} of ${String(one.total - one.skipped)}` +
  (one.waiting > 0 ? ` (${String(one.waiting)} waiting)` : '') +
  (one.failed > 0 ? ` (${String(one.failed)} failed)` : '');

function asksOf(one: Federation['benchmarks'][number]['measurement']): string {
  const scorer = one.scorer === undefined || one.scorer === '' ? '' : `, scored by ${one.scorer}`;
  const least =
    one.accuracy_min === undefined ? '' : `, at least ${String(one.accuracy_min)} right`;
  const safe = one.safety_min === undefined ? '' : `, safety at least ${words(one.safety_min)}`;
  const load = one.curve === true ? 'a curve' : `${String(one.samples)} queries`;
  const fields = one.fields.join(', ');
  return (
    `${load} at concurrency ${one.concurrency.join(', ')}, at most ` +
    `${String(one.max_output_tokens)} tokens each${scorer}${least}${safe}: ${fields}`
  );
}

function table(
  title: string,
  heads: readonly string[],
  rows: readonly Row[],
  none: string,
): readonly Node[] {
  const body = rows.map((row) =>
    h(
      'tr',
      {},
      row.map((cell, i) => (i === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell))),
    ),
  );
  return [
    h('h2', {}, title),
    rows.length === 0 ? h('p', { class: 'hint' }, none) : scrollTable(title, heads, body),
  ];
}
