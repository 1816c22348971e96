// The page of `assay site serve`: the site's runs; the bytes of one that would leave, its release,
// or that it stays. What is shown is what the server has written down, and the release sends back
// its digest.

import { h, replace } from '../base/dom.ts';
import { words } from '../base/format.ts';
import type { Result } from '../base/result.ts';
import type { Shown, SiteApi, SiteRun, SiteState } from '../api/site_client.ts';

const NEXT: Readonly<Record<string, string>> = {
  taken: 'The agent measures it.',
  held: 'The result is here and nowhere else.',
  reviewed: 'Shown, and not released.',
  released: 'Signed; the agent has sent it, or does so at its next turn.',
  withheld: 'Stays here for good.',
  failed: 'Failed.',
};

export async function startSite(root: HTMLElement, api: SiteApi): Promise<void> {
  await new SitePage(root, api).load();
}

class SitePage {
  private readonly list = h('div', {
    class: 'scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Runs',
  });
  private readonly policy = h('p', {});
  private readonly review = h('section', { class: 'submission', 'aria-label': 'Review' });
  private readonly said = h('p', { class: 'error', role: 'alert' });

  constructor(
    root: HTMLElement,
    private readonly api: SiteApi,
  ) {
    document.title = 'Assay site';
    replace(
      root,
      h(
        'main',
        { class: 'review', id: 'main' },
        h('h1', {}, 'This site'),
        this.policy,
        this.said,
        this.list,
        this.review,
      ),
    );
  }

  async load(): Promise<void> {
    const state = await this.api.state();
    if (!state.ok) return this.say(state.message);
    replace(this.policy, policyText(state.value.release));
    replace(this.list, this.table(state.value.runs));
  }

  private say(message: string): void {
    this.said.textContent = message;
  }

  private table(runs: readonly SiteRun[]): HTMLElement {
    if (runs.length === 0) {
      return h('p', {}, 'No run yet. ', h('code', {}, 'assay site agent'), ' takes orders.');
    }
    const heads = ['Run', 'Benchmark', 'Dataset', 'Model', 'State', ''];
    return h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((name) => (name === '' ? h('td', {}) : h('th', { scope: 'col' }, name))),
        ),
      ),
      h(
        'tbody',
        {},
        runs.map((run) => this.row(run)),
      ),
    );
  }

  private row(run: SiteRun): HTMLElement {
    const look = run.state === 'held' || run.document !== undefined;
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, run.id),
      h('td', {}, run.benchmark),
      h('td', {}, run.dataset),
      h('td', {}, run.model),
      h('td', {}, words(run.state), ' ', h('small', {}, NEXT[run.state] ?? '')),
      h(
        'td',
        {},
        look
          ? h(
              'button',
              { type: 'button', class: 'link', click: () => void this.show(run) },
              `Review ${run.id}`,
            )
          : null,
      ),
    );
  }

  private async show(run: SiteRun): Promise<void> {
    const shown = await this.api.review(run.id);
    if (!shown.ok) return this.say(shown.message);
    this.say('');
    replace(this.review, ...this.details(run, shown.value));
    this.review.querySelector('h2')?.focus();
    await this.load();
  }

  private details(run: SiteRun, shown: Shown): readonly Node[] {
    const open = run.state === 'held' || run.state === 'reviewed';
    const bytes = new TextEncoder().encode(shown.document).length;
    const act = async (what: Promise<Result<unknown>>): Promise<void> => {
      const done = await what;
      this.say(done.ok ? '' : done.message);
      if (done.ok) replace(this.review);
      await this.load();
    };
    const staying = shown.kept_back.map((line) => h('li', {}, line));
    return [
      h('h2', { tabindex: -1 }, `${run.id}: these ${String(bytes)} bytes would leave`),
      h('pre', { tabindex: 0, 'aria-label': 'The document', class: 'scroll' }, shown.document),
      h('p', {}, 'SHA-256 ', h('code', { class: 'digest' }, shown.sha256)),
      ...(staying.length === 0
        ? []
        : [h('h2', {}, 'Stays here'), h('ul', { class: 'plain' }, staying)]),
      ...(open
        ? [
            h(
              'p',
              { class: 'sides' },
              h(
                'button',
                {
                  type: 'button',
                  click: () => void act(this.api.release(run.id, shown.sha256)),
                },
                'Sign and release these bytes',
              ),
              ' ',
              h(
                'button',
                { type: 'button', click: () => void act(this.api.withhold(run.id)) },
                'Keep it here for good',
              ),
            ),
          ]
        : []),
    ];
  }
}

function policyText(release: SiteState['release']): string {
  return (
    `By this site's policy may leave: ${release.fields.join(', ')}; nothing over fewer than ` +
    `${String(release.k_minimum)} samples; ${String(release.digits)} significant digits.`
  );
}
