import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smallStore } from './fixture.ts';
import { DIST, facet, openPage, ready, startBrowser, staticPage } from './host.ts';

describe('an exported folder', () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    browser = await startBrowser();
    folder = mkdtempSync(join(tmpdir(), 'assay-export-'));
    cpSync(DIST, folder, { recursive: true });
    writeFileSync(join(folder, 'index.html'), staticPage());
    for (const [name, document] of smallStore()) {
      const path = join(folder, 'data', `${name}.js`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `assayData(${JSON.stringify(name)}, ${JSON.stringify(document)});\n`);
    }
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('opens from disk, with its reports and addresses', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    await ready(page);
    const stage = page.locator('[data-chart="curve"] .stage');
    expect(await stage.evaluate((e) => e.dataset['points'])).toBe('72');
    await facet(page, 'accelerator', 'GB200').check();
    await expect.poll(() => page.url()).toContain('accelerator=GB200');
    await stage.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Borealis rack at concurrency/ }).waitFor();
    expect(errors).toEqual([]);
  });
});
