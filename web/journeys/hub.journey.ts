import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, assay, start } from './assay.ts';
import { accessible } from './axe.ts';
import { type Watched, openPage, shot, startBrowser } from './host.ts';

// A hub of three parties, by its page: two register and associate, the third is a site, whose
// dataset is registered by its own program.
describe('a hub by its page', () => {
  let browser: Browser;
  let folder: string;
  let hub: Running;
  const tokens = new Map<string, string>();
  const address = (): string => (JSON.parse(hub.line) as { url: string }).url;

  beforeAll(async () => {
    browser = await startBrowser();
    folder = mkdtempSync(join(tmpdir(), 'assay-hub-'));
    const store = join(folder, 'hub.db');
    hub = await start(['hub', 'serve', '--store', store, '--port', '0', '--json']);
    for (const [owner, role] of [
      ['Committee', 'benchmark_owner'],
      ['Vendor', 'model_owner'],
      ['Hospital', 'data_owner'],
    ] as const) {
      const of = ['--role', role, '--organisation', owner];
      tokens.set(owner, assay(['hub', 'token', '--store', store, ...of]).trim());
    }
    writeFileSync(join(folder, 'hospital'), tokens.get('Hospital') ?? '');
    writeFileSync(join(folder, 'data.jsonl'), '{"prompt": "a"}\n{"prompt": "b"}\n');
    assay(['key', join(folder, 'site.key')]);
    writeFileSync(
      join(folder, 'site.yaml'),
      `hub: ${address()}
token_file: hospital
store: site.db
folder: runs
key: site.key
datasets: {ours: {file: data.jsonl, description: "<b>two</b> rows"}}
models: {model: {endpoint: "http://127.0.0.1:9", name: m}}
orders: {benchmarks: [triage], concurrency_max: 4, samples_max: 100, output_tokens_max: 64}
release: {fields: [completed, qps], k_minimum: 10, digits: 2}
`,
    );
    assay(['site', 'register', 'ours', '--send', '--policy', join(folder, 'site.yaml')]);
  });

  afterAll(async () => {
    await hub.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  async function enter(owner: string, look = {}): Promise<Watched> {
    const watched = await openPage(browser, look);
    await watched.page.goto(address());
    await watched.page.getByLabel(/^Token of your organisation/).fill(tokens.get(owner) ?? '');
    await watched.page.keyboard.press('Enter');
    await watched.page
      .locator('main > header')
      .getByText(new RegExp(`^${owner}, `))
      .waitFor();
    return watched;
  }

  const form = (page: Page, name: string): ReturnType<Page['getByRole']> =>
    page.getByRole('form', { name });

  it('shows nothing without a token', async () => {
    const { page } = await openPage(browser);
    await page.goto(address());
    await page.getByLabel(/^Token of your organisation/).fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The hub knows no such token, or it was revoked.').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await accessible(page);
    await shot(page, 'hub-token');
  });

  it('takes two parties from registration to an ordered run', async () => {
    const { page, errors } = await enter('Committee', { dark: true });
    const benchmark = form(page, 'Register a benchmark');
    await benchmark.getByLabel('Id').fill('triage');
    await benchmark.getByLabel('Concurrency, with commas').fill('1, x');
    await benchmark.getByLabel('Queries of each level').fill('30');
    await benchmark.getByLabel('Tokens of a reply at most').fill('8');
    await benchmark.getByLabel('qps', { exact: true }).check();
    await benchmark.getByRole('button', { name: 'Register' }).click();
    await benchmark.getByText('Concurrency: whole numbers above 0, as in 1, 8').waitFor();
    await benchmark.getByLabel('Concurrency, with commas').fill('1, 4');
    await benchmark.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('cell', { name: /^30 queries at concurrency 1, 4/ }).waitFor();

    const vendor = await enter('Vendor');
    const model = form(vendor.page, 'Register a model');
    await model.getByLabel('Id').fill('model');
    await model.getByLabel('Description').fill('<img src=x onerror=alert(1)>');
    await model.getByRole('button', { name: 'Register' }).click();
    const asking = form(vendor.page, 'Ask for an association');
    await asking.getByLabel('Yours').selectOption('model model');
    await asking.getByRole('button', { name: 'Ask the other side' }).click();
    await vendor.page.getByRole('cell', { name: 'pending' }).waitFor();

    // The committee's page follows by itself.
    await page.getByRole('button', { name: 'approve model model for triage' }).click();
    await page.getByRole('cell', { name: 'approved' }).waitFor();
    await form(page, 'Ask for an association')
      .getByLabel('Dataset or model')
      .selectOption('dataset ours');
    await page.getByRole('button', { name: 'Ask the other side' }).click();
    await page.getByRole('cell', { name: 'pending' }).waitFor();

    const hospital = await enter('Hospital', { width: 390, height: 844 });
    await hospital.page.getByText(/^Committee asks to put dataset ours together/).waitFor();
    await accessible(hospital.page);
    await shot(hospital.page, 'hub-phone');
    const wide = await hospital.page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
    await hospital.page.getByRole('button', { name: 'approve dataset ours for triage' }).click();
    await hospital.page.getByRole('cell', { name: 'approved' }).waitFor();

    const order = form(page, 'Order a run');
    await order.getByLabel('Benchmark, dataset, model').selectOption('triage, ours, model');
    await order.getByLabel('Id of the run').fill('run-1');
    await order.getByRole('button', { name: 'Order' }).click();
    await page.getByRole('cell', { name: 'ordered' }).waitFor();
    await accessible(page);
    await shot(page, 'hub-laptop');
    await page.reload();
    await page.getByRole('cell', { name: 'ordered' }).waitFor();
    expect([...errors, ...vendor.errors, ...hospital.errors]).toEqual([]);
    // What others may not do, the hub refuses: the id is taken.
    await form(page, 'Order a run').getByLabel('Id of the run').fill('run-1');
    await form(page, 'Order a run').getByRole('button', { name: 'Order' }).click();
    await page.getByText(/run-1/).first().waitFor();
    await page.locator('main > .error').filter({ hasText: /./ }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel(/^Token of your organisation/).waitFor();
  });

  it('shows what parties wrote as text, wherever it stands', async () => {
    const html = '<img src=x onerror=alert(1)><b>bold</b>';
    const of = (owner: string, ...args: string[]): string =>
      assay(['hub', ...args, '--hub', address(), '--token-file', join(folder, owner)]);
    const maker = ['--role', 'model_owner', '--organisation', '<u>Maker</u>'];
    const store = ['--store', join(folder, 'hub.db')];
    writeFileSync(join(folder, 'maker'), assay(['hub', 'token', ...store, ...maker]));
    writeFileSync(join(folder, 'committee'), tokens.get('Committee') ?? '');
    const measurement = join(folder, 'measurement.json');
    writeFileSync(
      measurement,
      '{"concurrency":[1],"samples":30,"max_output_tokens":8,"fields":["qps"]}',
    );
    const described = ['--description', html];
    of('maker', 'add_model', 'theirs', ...described);
    of('committee', 'add_benchmark', 'other', '--measurement', measurement, ...described);
    of('committee', 'associate', '--benchmark', 'other', '--model', 'theirs');
    const { page, errors } = await enter('Committee');
    await page.getByRole('cell', { name: '<u>Maker</u>' }).first().waitFor();
    expect(await page.getByRole('cell', { name: html }).count()).toBe(2);
    expect(await page.getByRole('cell', { name: '<b>two</b> rows' }).count()).toBe(1);
    expect(await page.locator('main').locator('u, b, i, img, script').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('fits a wall', async () => {
    const { page, errors } = await enter('Committee', { width: 2560, height: 1440 });
    await page.getByRole('heading', { name: 'Associations' }).waitFor();
    await shot(page, 'hub-wall');
    expect(errors).toEqual([]);
  });
});
