// Many curves, panels, Offline bars, and the picture that leaves the page.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessible } from './axe.ts';
import { bigStore, smallStore } from './fixture.ts';
import { type Host, openPage, ready, serveStatic, shot, startBrowser } from './host.ts';

const LOOKS = [
  ['phone', { width: 390, height: 844 }],
  ['laptop', { width: 1440, height: 900, dark: true }],
  ['wall', { width: 2560, height: 1440 }],
] as const;

describe('views of curves', () => {
  let browser: Browser;
  let few: Host;
  let many: Host;
  beforeAll(async () => {
    browser = await startBrowser();
    few = await serveStatic(smallStore());
    many = await serveStatic(bigStore(1000));
  });
  afterAll(async () => {
    await browser.close();
    await few.close();
    await many.close();
  });

  const panels = (page: Page): Promise<void> =>
    page.locator('#split').selectOption('accelerator').then();

  it('show a thousand curves, one of them whole, and in panels', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(many.address);
    await ready(page);
    await page.getByText(/992 curves in grey/).waitFor();
    await page.locator('[data-chart="curve"] .stage').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('[data-chart="curve"] .hover-card').innerText()).toContain('peak');
    // Before the first system that stands out lies the last grey one.
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    expect(await page.locator('[data-chart="curve"] .hover-card strong').innerText()).toMatch(
      /^System \d+$/,
    );
    await shot(page, 'crowd-lit');
    await panels(page);
    await page.getByText(/the same axes/).waitFor();
    await expect.poll(() => page.url()).toContain('split=accelerator');
    await shot(page, 'crowd-panels');
    expect(errors).toEqual([]);
  });

  it('fit a phone, a laptop and a wall', async () => {
    for (const [name, look] of LOOKS) {
      const { page, errors } = await openPage(browser, look);
      await page.goto(`${few.address}#/explore?split=accelerator`);
      await ready(page);
      await page.locator('[data-chart="offline"] .stage').scrollIntoViewIfNeeded();
      await shot(page, `panels-${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, name).toBeLessThanOrEqual(look.width);
      if (name === 'laptop') await accessible(page);
      expect(errors).toEqual([]);
    }
  });

  it('open an Offline run from its bar, by keys', async () => {
    const { page } = await openPage(browser);
    await page.goto(few.address);
    await ready(page);
    await page.locator('[data-chart="offline"] .stage').focus();
    await page.keyboard.press('ArrowRight');
    const card = page.locator('[data-chart="offline"] .hover-card');
    expect(await card.innerText()).toContain('Offline, 6,396 queries at once');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Run report' }).waitFor();
  });

  it('write under a picture what it is of', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${few.address}#/explore?accelerator=H200`);
    await ready(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download SVG: Throughput against interactivity' }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text).toContain('Only accelerator: H200.');
    expect(text).toContain('1 system (1 measured); accuracy 1 passed');
    expect(text).toContain('In colour: Dune 4x.');
  });

  it('total a purchase over years from inputs that are all in sight', async () => {
    const { page, errors } = await openPage(browser, { dark: true });
    await page.goto(`${few.address}#/cost?users=1000`);
    await ready(page);
    await page.getByText('Total cost over years').click();
    await page.getByLabel('An accelerator bought').fill('30000');
    await page.keyboard.press('Tab');
    await page.getByText('A purchase needs the years that it is paid over.').waitFor();
    await page.getByLabel('Paid over').fill('4');
    await page.getByLabel('Energy', { exact: true }).fill('0.1');
    await page.keyboard.press('Tab');
    await page.getByText('In the sum: an accelerator bought, paid over, energy.').waitFor();
    const card = page.locator('.answer-cards');
    expect(await card.innerText()).toContain(
      'at $30,000 for an accelerator over 4 years, your price, and what else you gave',
    );
    const dune = page.getByRole('row', { name: /^Dune 4x/ });
    expect(await dune.innerText()).toContain('without power: not known');
    await expect.poll(() => page.url()).toContain('bill=capex%3A30000');
    await accessible(page);
    await shot(page, 'cost-total');
    expect(errors).toEqual([]);
  });
});
