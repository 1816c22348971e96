import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, assay, start } from './assay.ts';
import { accessible } from './axe.ts';
import { openPage, shot, startBrowser } from './host.ts';

// A hub, a site and two runs whose results are held at the site.
describe('a site with two held results', () => {
  let browser: Browser;
  let folder: string;
  let hub: Running;
  let endpoint: Running;
  let site: Running;
  const address = (of: Running): string => (JSON.parse(of.line) as { url: string }).url;
  const policy = (): string[] => ['--policy', join(folder, 'site.yaml')];

  const as = (owner: string, ...args: string[]): string =>
    assay(['hub', ...args, '--hub', address(hub), '--token-file', join(folder, owner)]);

  beforeAll(async () => {
    browser = await startBrowser();
    folder = mkdtempSync(join(tmpdir(), 'assay-site-'));
    mkdirSync(folder, { recursive: true });
    const store = join(folder, 'hub.db');
    hub = await start(['hub', 'serve', '--store', store, '--port', '0', '--json']);
    endpoint = await start(['endpoint', '--port', '0', '--osl', '4', '--quiet']);
    for (const [owner, role] of [
      ['committee', 'benchmark_owner'],
      ['vendor', 'model_owner'],
      ['hospital', 'data_owner'],
    ] as const) {
      const token = ['--role', role, '--organisation', owner];
      writeFileSync(join(folder, owner), assay(['hub', 'token', '--store', store, ...token]));
    }
    const rows = Array.from({ length: 30 }, (_, i) => JSON.stringify({ prompt: `Question ${i}` }));
    writeFileSync(join(folder, 'data.jsonl'), rows.join('\n') + '\n');
    assay(['key', join(folder, 'site.key')]);
    writeFileSync(
      join(folder, 'site.yaml'),
      `hub: ${address(hub)}
token_file: hospital
store: site.db
folder: runs
key: site.key
datasets: {ours: {file: data.jsonl}}
models: {model: {endpoint: "${endpoint.line.trim()}", name: m}}
orders: {benchmarks: [triage], concurrency_max: 4, samples_max: 100, output_tokens_max: 64}
release: {fields: [completed, qps], k_minimum: 10, digits: 2}
`,
    );
    const measurement = join(folder, 'measurement.json');
    writeFileSync(
      measurement,
      '{"concurrency":[1,4],"samples":30,"max_output_tokens":8,"fields":["qps","completed","tps"]}',
    );
    as('committee', 'add_benchmark', 'triage', '--measurement', measurement);
    as('vendor', 'add_model', 'model', '--description', '<b>bold</b>');
    assay(['site', 'register', 'ours', '--send', ...policy()]);
    for (const pair of [
      ['--dataset', 'ours'],
      ['--model', 'model'],
    ]) {
      const both = ['--benchmark', 'triage', ...pair];
      as('committee', 'associate', ...both);
      as(pair[0] === '--model' ? 'vendor' : 'hospital', 'approve', ...both);
    }
    for (const run of ['run-1', 'run-2']) {
      as(
        'committee',
        'order',
        run,
        ...['--benchmark', 'triage', '--dataset', 'ours', '--model', 'model'],
      );
    }
    assay(['site', 'agent', '--once', ...policy()]);
    site = await start(['site', 'serve', '--port', '0', '--json', ...policy()]);
  });

  afterAll(async () => {
    await site.stop();
    await endpoint.stop();
    await hub.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('is closed without its token', async () => {
    const { page } = await openPage(browser);
    expect((await page.goto(new URL(address(site)).origin))?.status()).toBe(401);
  });

  it('shows the bytes that would leave, and releases those', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(address(site));
    await page.getByRole('button', { name: 'Review run-1' }).click();
    await page.getByRole('heading', { name: /would leave/ }).waitFor();
    const shown = (await page.getByLabel('The document').textContent()) ?? '';
    expect(await page.getByText('tps: the policy does not list it').count()).toBe(2);
    await shot(page, 'site-review');
    await accessible(page);
    await page.getByRole('button', { name: 'Sign and release these bytes' }).click();
    await page.getByRole('cell', { name: /^released/ }).waitFor();
    assay(['site', 'agent', '--once', ...policy()]);
    const all = JSON.parse(as('committee', 'show', '--json')) as {
      runs: { id: string; document?: string }[];
    };
    expect(all.runs.find((run) => run.id === 'run-1')?.document).toBe(shown);
    expect(errors).toEqual([]);
  });

  it('keeps a result on a phone', async () => {
    const { page, errors } = await openPage(browser, { width: 390, height: 844 });
    await page.goto(address(site));
    await page.getByRole('button', { name: 'Review run-2' }).click();
    await page.getByRole('heading', { name: /would leave/ }).waitFor();
    await shot(page, 'site-phone');
    await accessible(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Keep it here for good' }).click();
    await page.getByRole('cell', { name: /^withheld/ }).waitFor();
    expect(errors).toEqual([]);
  });
});
