import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Running, assay, begin, start } from './assay.ts';
import { accessible } from './axe.ts';
import { openPage, ready, shot, startBrowser } from './host.ts';

const points = (page: Page, chart: string): Promise<number> =>
  page.locator(`[data-chart="${chart}"] .stage`).evaluate((e) => Number(e.dataset['points']));

describe('from an empty store', () => {
  let browser: Browser;
  let folder: string;
  let store: string;
  let server: Running;

  beforeAll(async () => {
    browser = await startBrowser();
    folder = mkdtempSync(join(tmpdir(), 'assay-journey-'));
    store = join(folder, 'store.db');
    server = await start(['serve', '--store', store, '--port', '0', '--json']);
  });

  afterAll(async () => {
    await server.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const address = (): string => (JSON.parse(server.line) as { url: string }).url;

  it('teaches how to fill it', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(address());
    await page.getByRole('heading', { name: 'The store is empty' }).waitFor();
    await shot(page, 'server-empty');
    await accessible(page);
    expect(errors).toEqual([]);
  });

  it('says what it wants when the token is missing', async () => {
    const { page } = await openPage(browser);
    const reply = await page.goto(new URL(address()).origin);
    expect(reply?.status()).toBe(401);
  });

  it('measures, imports while the page is open, explores and reports', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(address());
    await page.getByRole('heading', { name: 'The store is empty' }).waitFor();

    const endpoint = await start(['endpoint', '--port', '0', '--ttft', '20ms', '--itl', '4ms']);
    const run = join(folder, 'run');
    // 4: measured, but this machine was busy; the figures are not what is tested here.
    assay(
      [
        'run',
        '--endpoint',
        endpoint.line,
        '--model',
        'demo',
        '--concurrency',
        '8',
        '--samples',
        '160',
        '--osl',
        '32',
        '--report-dir',
        run,
      ],
      [4],
    );
    await endpoint.stop();
    const curve = join(folder, 'curve.json');
    writeFileSync(
      curve,
      assay(['simulate', '--model', 'gpt-oss-120b', '--hardware', 'b200-sxm', '--json']),
    );
    assay(['import', '--store', store, run, curve]);

    // No reload: the server tells the page.
    await ready(page);
    const model = page.locator('#model');
    await model.locator('option[value="demo"]').waitFor({ state: 'attached' });
    const simulated = await model
      .locator('option')
      .evaluateAll((all) =>
        all.map((one) => (one as HTMLOptionElement).value).find((name) => name !== 'demo'),
      );
    await model.selectOption(simulated ?? '');
    await expect.poll(() => points(page, 'curve')).toBeGreaterThan(3);
    const all = await points(page, 'curve');
    await page.getByRole('button', { name: '≥ 10 users' }).click();
    const some = await points(page, 'curve');
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all);
    expect(await points(page, 'ttft')).toBe(some);
    await shot(page, 'server-explore');

    const stage = page.locator('[data-chart="curve"] .stage');
    await stage.focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('[data-chart="curve"] .hover-card').innerText()).toMatch(/% of peak/);
    await page.keyboard.press('Enter');
    await page.locator('.report').getByText('Simulated, not measured.').waitFor();
    await page.getByRole('button', { name: 'Close the report' }).click();
    expect(errors).toEqual([]);
  });

  it('has the report and the events of what was measured', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(address());
    await ready(page);
    await page.locator('#model').selectOption('demo');
    const stage = page.locator('[data-chart="curve"] .stage');
    await expect.poll(() => points(page, 'curve')).toBe(1);
    await stage.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const report = page.locator('.report');
    await report.getByRole('heading', { name: /at concurrency 8$/ }).waitFor();
    for (const word of ['TTFT', 'TPOT', 'Completed', 'assay/events-0.alog', 'Client']) {
      expect(await report.innerText()).toContain(word);
    }
    await page.locator('.run-charts .stage').first().waitFor();
    await shot(page, 'server-report');
    await accessible(page);
    await page.getByRole('button', { name: 'Event view' }).click();
    await page.getByText('160 streams in view').waitFor();
    await shot(page, 'server-events');
    const shared = page.url();
    await page.goto('about:blank');
    await page.goto(shared);
    await page.getByText('160 streams in view').waitFor();
    expect(errors).toEqual([]);
  });

  it('exports the same, to be opened from disk', async () => {
    const out = join(folder, 'site');
    assay(['export', out, '--store', store]);
    const { page, errors } = await openPage(browser);
    await page.goto(pathToFileURL(join(out, 'index.html')).href);
    await ready(page);
    await page.locator('#model').selectOption('demo');
    await expect.poll(() => points(page, 'curve')).toBe(1);
    await page.locator('[data-chart="curve"] .stage').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page
      .locator('.report')
      .getByRole('heading', { name: /at concurrency 8$/ })
      .waitFor();
    await page.getByRole('button', { name: 'Event view' }).click();
    await page.getByText('160 streams in view').waitFor();
    await shot(page, 'export-events');
    expect(errors).toEqual([]);
  });
});

describe('while a curve is measured', () => {
  it('draws it point by point, without a reload', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-journey-'));
    const runs = join(folder, 'runs');
    mkdirSync(runs);
    const browser = await startBrowser();
    const server = await start(['serve', runs, '--port', '0', '--json']);
    const endpoint = await start(['endpoint', '--port', '0', '--ttft', '20ms', '--itl', '4ms']);
    onTestFinished(async () => {
      await endpoint.stop();
      await server.stop();
      await browser.close();
      rmSync(folder, { recursive: true });
    });
    const { page, errors } = await openPage(browser);
    await page.goto((JSON.parse(server.line) as { url: string }).url);
    await page.getByRole('heading', { name: 'The store is empty' }).waitFor();
    const curve = begin([
      'curve',
      '--endpoint',
      endpoint.line,
      '--model',
      'demo',
      '--concurrency',
      '4,16',
      '--quick',
      '--prompts',
      '16',
      '--osl',
      '16',
      '--warmup-requests',
      '8',
      '--report-dir',
      join(runs, 'curve'),
      '--allow-client-limited',
    ]);
    // A ring where the point would be if it ended now, and how far the curve is.
    const charts = page.locator('.charts');
    await charts.and(page.locator('[data-live="1"]')).waitFor();
    const strip = page.getByRole('region', { name: 'Being measured now' });
    await strip.locator('strong', { hasText: /^Measuring demo at concurrency/ }).waitFor();
    await strip.getByText(/^\d of 2 points$/).waitFor();
    await expect.poll(() => points(page, 'curve'), { timeout: 40000 }).toBeGreaterThan(0);
    await charts.and(page.locator('[data-live="1"]')).waitFor();
    await shot(page, 'server-live');
    await accessible(page);
    expect(await curve).toBe(0);
    await expect.poll(() => points(page, 'curve'), { timeout: 40000 }).toBe(2);
    await strip.waitFor({ state: 'hidden' });
    await charts.and(page.locator('[data-live="0"]')).waitFor();
    expect(errors).toEqual([]);
  });
});

describe('the review board', () => {
  let browser: Browser;
  let folder: string;
  let server: Running;
  let token: string;

  beforeAll(async () => {
    browser = await startBrowser();
    folder = mkdtempSync(join(tmpdir(), 'assay-journey-'));
    const store = ['--store', join(folder, 'store.db')];
    const review = (...args: string[]): string => assay(['review', ...args, ...store]);
    review('submit', 's1', '--role', 'submitter', '--organisation', 'Example');
    review('check_passed', 's1', '--role', 'chair');
    token = review('token', '--role', 'reviewer', '--organisation', 'Other', '--name', 'R').trim();
    server = await start(['serve', ...store, '--port', '0', '--json', '--writable']);
  });

  afterAll(async () => {
    await server.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('takes an objection from a reviewer, for good, and shows markup as text', async () => {
    const { page, errors } = await openPage(browser);
    const { origin } = new URL((JSON.parse(server.line) as { url: string }).url);
    await page.goto(`${origin}/?token=${token}`);
    await page.goto(`${origin}/#/review?submission=s1`);
    await page.locator('#act-kind').selectOption('objection');
    await page.getByLabel('objection kind').selectOption('validity');
    await page.getByLabel('text', { exact: true }).fill('<b>Which</b> warm-up was used?');
    await page.getByLabel('clause').fill('§3.7');
    await accessible(page);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('.findings').getByText('<b>Which</b> warm-up was used?').waitFor();
    await page.getByText('intact: each entry names the hash of the one before').waitFor();
    await shot(page, 'server-review');
    expect(errors).toEqual([]);
  });
});
