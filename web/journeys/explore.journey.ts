import { readFileSync } from 'node:fs';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessible } from './axe.ts';
import { smallStore } from './fixture.ts';
import { type Host, facet, openPage, ready, serveStatic, shot, startBrowser } from './host.ts';

let host: Host;
let browser: Browser;

beforeAll(async () => {
  host = await serveStatic(smallStore());
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  await host.close();
});

const points = (page: Page, chart: string): Promise<number> =>
  page.locator(`[data-chart="${chart}"] .stage`).evaluate((e) => Number(e.dataset['points']));

async function downloaded(page: Page, label: string): Promise<[Download, Buffer]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: label, exact: true }).click(),
  ]);
  return [download, readFileSync(await download.path())];
}

// Walks with the arrow keys until a point of the system is reached: no pixel is assumed.
async function walkTo(page: Page, system: string): Promise<void> {
  await page.locator('[data-chart="curve"] .stage').focus();
  for (let i = 0; i < 12; i += 1) {
    await page.keyboard.press('ArrowDown');
    const text = await page.locator('[data-chart="curve"] .hover-card strong').innerText();
    if (text === system) return;
  }
  throw new Error(`no point of ${system} was reached`);
}

describe('exploring', () => {
  it('shows, filters, tells, opens a report, and shares all of it by the address', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    expect(await points(page, 'curve')).toBe(72);
    await shot(page, 'explore');

    await facet(page, 'kind', 'measured').check();
    await facet(page, 'accelerator', 'B200').check();
    expect(await points(page, 'curve')).toBe(24);
    await facet(page, 'accelerator', 'GB200').check();
    expect(await points(page, 'curve')).toBe(36);
    await page.getByRole('button', { name: '≥ 10 users' }).click();
    for (const chart of ['curve', 'scaling', 'ttft', 'interactivity']) {
      expect(await points(page, chart), chart).toBe(24);
    }
    await page.getByLabel('Pareto envelope across systems').check();
    await page.locator('#per').selectOption('kw');
    await shot(page, 'filtered');

    await walkTo(page, 'Borealis rack');
    const card = page.locator('[data-chart="curve"] .hover-card');
    expect(await card.innerText()).toMatch(/tok\/s · [\d.]+ % of peak/);
    expect(await card.innerText()).toMatch(/Accuracy\s+passed/);
    // A power that has a default of the rules in it says so beside the figure that it divides.
    expect(await card.innerText()).toContain('132 kW, MLC Estimated Power');
    expect(await page.locator('.axes-choice .hint').innerText()).toContain('1 MLC Estimated Power');
    await shot(page, 'hover');

    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Borealis rack at concurrency/ }).waitFor();
    // A reader's own words go to the charts, the address, and with a picture.
    await page.locator('#annotation').fill('the rack that we looked at');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.url()).toContain('the+rack+that+we+looked+at');
    await page.locator('.run-charts .stage').first().waitFor();
    await shot(page, 'report');
    const report = page.getByRole('complementary', { name: 'Run report' });
    for (const text of ['prefill node', 'decode node', 'STEADY STATE', 'ab'.repeat(32)]) {
      expect(await report.innerText()).toContain(text);
    }
    const shared = page.url();

    const other = await openPage(browser);
    await other.page.goto(shared);
    await ready(other.page);
    await other.page.getByRole('heading', { name: /^Borealis rack at concurrency/ }).waitFor();
    expect(await points(other.page, 'curve')).toBe(24);
    expect(await other.page.getByLabel('Pareto envelope across systems').isChecked()).toBe(true);

    await page.goBack();
    await report.waitFor({ state: 'detached' });
    expect(await points(page, 'curve')).toBe(24);
    expect([...errors, ...other.errors]).toEqual([]);
  });

  it('hovers and opens by the pointer, and lights the point up in the other charts', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.address}#/explore?accelerator=H200`);
    await ready(page);
    const stage = page.locator('[data-chart="scaling"] .stage');
    const box = await stage.boundingBox();
    if (box === null) throw new Error('no chart');
    // The right end of the curve: its highest concurrency.
    for (let x = box.width - 4; x > box.width / 2; x -= 6) {
      await page.mouse.move(box.x + x, box.y + box.height * 0.12);
      if (await page.locator('[data-chart="scaling"] .hover-card').isVisible()) break;
    }
    const text = await page.locator('[data-chart="scaling"] .hover-card').innerText();
    expect(text).toContain('Dune 4x');
    expect(text).toContain('the client may have been the bottleneck');
    const lit = await page.locator('[data-chart="ttft"] canvas.over').evaluate((canvas) => {
      const c = canvas as HTMLCanvasElement;
      const data = c.getContext('2d')?.getImageData(0, 0, c.width, c.height).data ?? [];
      return data.some((value) => value !== 0);
    });
    expect(lit).toBe(true);
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole('heading', { name: 'Dune 4x at concurrency 2,048' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.report').waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });
});

describe('charts', () => {
  it('take a concurrency range by dragging, all of them', async () => {
    const { page } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    const box = await page.locator('[data-chart="interactivity"] .stage').boundingBox();
    if (box === null) throw new Error('no chart');
    await page.mouse.move(box.x + box.width * 0.45, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.url()).toMatch(/concurrency_min=\d+&concurrency_max=\d+/);
    const left = await points(page, 'curve');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(72);
    expect(await points(page, 'ttft')).toBe(left);
  });

  it('take a concurrency range by keys, and let it go', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    await page.locator('[data-chart="ttft"] .stage').focus();
    for (let i = 0; i < 4; i += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.down('Shift');
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowRight');
    expect(await points(page, 'curve')).toBe(72);
    await shot(page, 'brush-keys');
    await page.keyboard.up('Shift');
    // From the fourth level to the seventh.
    await expect.poll(() => page.url()).toMatch(/concurrency_min=8&concurrency_max=64/);
    await expect.poll(() => points(page, 'curve')).toBe(6 * 4);
    await page.locator('.chosen-range').getByText('Concurrency 8 to 64').waitFor();
    expect(await page.locator('.report').count()).toBe(0);
    await page.keyboard.press('Delete');
    expect(await points(page, 'curve')).toBe(72);
    expect(errors).toEqual([]);
  });

  it('take a concurrency range by a finger', async () => {
    const { page, errors } = await openPage(browser, { width: 390, height: 844, touch: true });
    await page.goto(host.address);
    await ready(page);
    const stage = page.locator('[data-chart="interactivity"] .stage');
    await stage.scrollIntoViewIfNeeded();
    const box = await stage.boundingBox();
    if (box === null) throw new Error('no chart');
    const session = await page.context().newCDPSession(page);
    const touch = (type: string, x: number | null): Promise<unknown> =>
      session.send('Input.dispatchTouchEvent', {
        type: type as 'touchStart',
        touchPoints: x === null ? [] : [{ x: box.x + x * box.width, y: box.y + 90 }],
      });
    await touch('touchStart', 0.4);
    for (let x = 0.45; x < 0.76; x += 0.05) await touch('touchMove', x);
    await touch('touchEnd', null);
    await expect.poll(() => page.url()).toMatch(/concurrency_min=\d+&concurrency_max=\d+/);
    const left = await points(page, 'curve');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(72);
    expect(await page.locator('.report').count()).toBe(0);
    await page.getByRole('button', { name: 'Show all', exact: true }).click();
    expect(await points(page, 'curve')).toBe(72);
    expect(errors).toEqual([]);
  });

  it('give their pictures and data as files', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    const title = 'Throughput against interactivity';
    const [png, pixels] = await downloaded(page, `Download PNG: ${title}`);
    expect(png.suggestedFilename()).toBe('assay-curve.png');
    expect(pixels.subarray(1, 4).toString()).toBe('PNG');
    const [, svg] = await downloaded(page, `Download SVG: ${title}`);
    expect(svg.toString()).toMatch(/^<svg xmlns/);
    expect(svg.toString()).toContain('Borealis rack');
    const [, csv] = await downloaded(page, `Download CSV: ${title}`);
    expect(csv.toString().trim().split('\r\n')).toHaveLength(73);
    const [, json] = await downloaded(page, `Download JSON: ${title}`);
    expect(JSON.parse(json.toString())).toHaveLength(72);
    await page.locator('[data-chart="curve"] summary').click();
    await page.locator('[data-chart="curve"] tbody tr').nth(71).waitFor();
    expect(await page.locator('[data-chart="curve"] tbody tr').count()).toBe(72);
    expect(errors).toEqual([]);
  });
});

describe('for everybody', () => {
  it('shows what a stranger wrote as text', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.address}#/run?run=p2-512`);
    await page.getByText('connection reset by peer <script>alert(1)</script>').waitFor();
    await page.getByText('Fix: Run the accuracy set again').waitFor();
    await page.locator('.run-charts .stage').first().waitFor();
    await accessible(page);
    expect(errors).toEqual([]);
  });

  for (const [name, look] of [
    ['light', {}],
    ['dark', { dark: true }],
    ['phone', { width: 390, height: 844, touch: true }],
    ['wall', { width: 3840, height: 2160 }],
  ] as const) {
    it(`has no serious accessibility finding: ${name}`, async () => {
      const { page, errors } = await openPage(browser, look);
      await page.goto(host.address);
      await ready(page);
      await shot(page, `explore-${name}`);
      await accessible(page);
      await page.goto(`${host.address}#/run?run=p1-64`);
      await page.locator('.run-charts .stage').first().waitFor();
      await shot(page, `report-${name}`);
      await accessible(page);
      const wider = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(wider).toBeLessThanOrEqual(0);
      expect(errors).toEqual([]);
    });
  }

  it('shows any figure against any other, looks closer, and has both in its address', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    const all = await points(page, 'curve');
    await page.locator('#horizontal').selectOption('ttft_ms_p90');
    await page.locator('#vertical').selectOption('tps_per_user');
    const title = page.locator('[data-chart="curve"] h2');
    expect(await title.innerText()).toBe('Interactivity against TTFT P90');
    expect(await points(page, 'curve')).toBeGreaterThan(0);
    await shot(page, 'axes');
    // By keys: closer, aside, and all of it again.
    await page.locator('[data-chart="curve"] .stage').focus();
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < 4; i += 1) await page.keyboard.press('+');
    const some = await points(page, 'curve');
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all);
    await expect.poll(() => page.url()).toContain('horizontal=ttft_ms_p90');
    await expect.poll(() => page.url()).toContain('x_from=');
    await shot(page, 'axes-near');
    const near = page.url();
    await page.keyboard.press('Alt+ArrowRight');
    await expect.poll(() => page.url()).not.toBe(near);
    await page.getByRole('button', { name: 'Fit all points' }).click();
    await expect.poll(() => page.url()).not.toContain('x_from=');
    await accessible(page);
    expect(errors).toEqual([]);
  });

  it('shows the columns that are chosen, and has the choice in its address', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    const heads = (): Promise<string[]> => page.locator('.systems thead th').allInnerTexts();
    expect(await heads()).toContain('kW');
    expect(await heads()).not.toContain('Division');
    await page.getByText('Columns', { exact: true }).click();
    await page.locator('#column-division').check();
    await page.locator('#column-tpot').check();
    await page.locator('#column-kw').uncheck();
    const chosen = await heads();
    expect(chosen).toContain('Division');
    expect(chosen).toContain('Best TPOT P90');
    expect(chosen).not.toContain('kW');
    // The cells follow their heads.
    const row = page.locator('.systems tbody tr').first();
    expect(await row.locator('td, th').count()).toBe(chosen.length);
    await shot(page, 'columns');
    await page.reload();
    await ready(page);
    expect(await heads()).toEqual(chosen);
    await accessible(page);
    expect(errors).toEqual([]);
  });
});
