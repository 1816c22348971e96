// Figures by date, the state of submissions, and views that are kept.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessible } from './axe.ts';
import { smallStore } from './fixture.ts';
import { dated } from './fixture_data.ts';
import { type Host, facet, openPage, ready, serveStatic, shot, startBrowser } from './host.ts';

const LOOKS = [
  ['phone', { width: 390, height: 844 }],
  ['laptop', { width: 1440, height: 900, dark: true }],
  ['wall', { width: 2560, height: 1440 }],
] as const;

const marks = (page: Page): Promise<number> =>
  page
    .locator('[data-chart="curve"] .stage')
    .evaluate((element) => Number((element as HTMLElement).dataset['points']));

const settled = (page: Page, count: number): Promise<void> =>
  expect.poll(() => marks(page), { timeout: 15000 }).toBe(count);

describe('results by date', () => {
  let browser: Browser;
  let host: Host;
  beforeAll(async () => {
    browser = await startBrowser();
    host = await serveStatic(dated(smallStore()));
  });
  afterAll(async () => {
    await browser.close();
    await host.close();
  });

  it('are a mark a system on every screen, walked through in time by the keys', async () => {
    for (const [name, look] of LOOKS) {
      const { page, errors } = await openPage(browser, look);
      await page.goto(`${host.address}#/explore`);
      await ready(page);
      await page.locator('#horizontal').selectOption('measured');
      await page.getByText('Each system at its best point').waitFor();
      expect(await marks(page)).toBe(5);
      await page.getByText('1 of 6 have no such date.').waitFor();
      await page.locator('[data-chart="curve"] .stage').focus();
      const walked: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        await page.keyboard.press('ArrowRight');
        walked.push(await page.locator('[data-chart="curve"] .hover-card').innerText());
      }
      expect(walked.map((text) => /^(\w+ \w+?)measured/.exec(text)?.[1])).toEqual([
        'Aurora 8x',
        'Borealis rack',
        'Cirrus 8x',
      ]);
      expect(walked[1]).toMatch(/Date measured\s+2026-04-11 10:30/);
      await shot(page, `history-${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, name).toBeLessThanOrEqual(look.width);
      if (name === 'laptop') await accessible(page);
      expect(errors).toEqual([]);
    }
  });

  it('are chosen by day and by the state of their submission', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.address}#/explore?horizontal=measured&since=2026-05-01`);
    await ready(page);
    // Cirrus, Dune, Ember by their measurement, Borealis by the day of its publication.
    await settled(page, 4);
    await page.locator('#until').fill('2026-06-30');
    await settled(page, 3);
    await facet(page, 'status', 'published').check();
    await settled(page, 1);
    await page.locator('#horizontal').selectOption('published');
    await page.locator('[data-chart="curve"] .stage').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('[data-chart="curve"] .hover-card').innerText()).toMatch(
      /Borealis rack[^]*Date published\s+2026-06-02/,
    );
    await expect.poll(() => page.url()).toMatch(/since=2026-05-01&until=2026-06-30/);
    expect(errors).toEqual([]);
  });

  it('are kept as a view, found again after a reload, and forgotten, by keys alone', async () => {
    const { page, errors } = await openPage(browser, { dark: true });
    await page.goto(`${host.address}#/explore?horizontal=measured&accelerator=B200`);
    await ready(page);
    const menu = page.getByText('Saved views', { exact: true });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('B200 by date');
    await page.keyboard.press('Enter');
    const kept = page.getByRole('link', { name: 'B200 by date' });
    await kept.waitFor();
    await shot(page, 'saved-views');
    await accessible(page);
    const address = page.url();
    await page.keyboard.press('Escape');
    await page.goto(`${host.address}#/cost`);
    await page.reload();
    await ready(page);
    await menu.press('Enter');
    await kept.press('Enter');
    await page.waitForURL(address);
    expect(await marks(page)).toBe(1);
    await menu.press('Enter');
    await page.getByRole('button', { name: 'Forget B200 by date' }).press('Enter');
    await kept.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });
});
