// What the page promises, measured in a browser and printed. Nothing here fails on a slow
// machine.

import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bigStore } from './fixture.ts';
import {
  DIST,
  type Host,
  facet,
  openPage,
  ready,
  serveStatic,
  shot,
  startBrowser,
} from './host.ts';

const BUNDLE_BYTES_MAX = 500 * 1024;

// bench/explorer.py gives a running `assay serve` with a store of that size.
const SERVED = process.env['ASSAY_SPEED_URL'];

describe('speed', () => {
  let host: Host | null = null;
  let browser: Browser;
  let address = SERVED ?? '';
  beforeAll(async () => {
    if (SERVED === undefined) {
      host = await serveStatic(bigStore());
      address = host.address;
    }
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await host?.close();
  });

  it('shows ten thousand points in 500 curves, and filters them', async () => {
    const { page, errors } = await openPage(browser);
    if (SERVED !== undefined) {
      // The token's redirect and the program's start are not the page's.
      await page.goto(address);
      await ready(page);
      await page.goto('about:blank');
      address = new URL(address).origin;
    }
    await page.goto(address);
    await ready(page);
    const first = await page.evaluate(() => performance.now());
    await shot(page, 'big');
    const stage = page.locator('[data-chart="curve"] .stage');
    expect(await stage.evaluate((e) => e.dataset['points'])).toBe('10000');
    const redraws: number[] = [];
    const names =
      SERVED === undefined
        ? ['H100', 'H200', 'L40S', 'B200', 'GB200']
        : ['h100-sxm', 'h200-sxm', 'l40s', 'b200-sxm', 'gb200'];
    for (const name of names) {
      // From the click to the frame after it, as one would see it.
      const took = await facet(page, 'accelerator', name).evaluate((box) => {
        const began = performance.now();
        (box as HTMLInputElement).click();
        return new Promise<number>((resolve) => {
          requestAnimationFrame(() => resolve(performance.now() - began));
        });
      });
      redraws.push(took);
    }
    const shown = await stage.evaluate((e) => Number(e.dataset['points']));
    expect(shown).toBeGreaterThan(5000);
    expect(shown).toBeLessThan(8000);
    const where = SERVED === undefined ? 'exported' : 'served';
    process.stdout.write(
      `10,000 points in 500 curves, ${where}: first charts after ${first.toFixed(0)} ms, ` +
        `filter to redraw ${redraws.map((one) => one.toFixed(0)).join(', ')} ms\n`,
    );
    expect(errors).toEqual([]);
  });

  it('is small', () => {
    const bytes = readdirSync(DIST)
      .map((name) => gzipSync(readFileSync(DIST + name)).length)
      .reduce((sum, one) => sum + one, 0);
    process.stdout.write(`the page, compressed: ${(bytes / 1024).toFixed(1)} KiB\n`);
    expect(bytes).toBeLessThan(BUNDLE_BYTES_MAX);
  });
});
