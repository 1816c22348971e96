// Results of others in the explorer: the same system in two rounds of a suite.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assay, start } from './assay.ts';
import { openPage, ready, shot, startBrowser } from './host.ts';

// The results site's columns, with figures that nobody measured.
const TABLE = [
  'Organization,SystemName,MlperfModel,Scenario,Result,Units,version',
  'Alpha,Box of eight,deepseek-r1,Offline,1000,Tokens/s,v6.0',
  'Alpha,Box of eight,deepseek-r1,Offline,1700,Tokens/s,v6.1',
].join('\n');

describe('rounds of a suite', () => {
  it('are told apart where a system was in both', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-rounds-'));
    const browser = await startBrowser();
    const store = join(folder, 'store.db');
    writeFileSync(join(folder, 'rounds.csv'), TABLE);
    assay(['import', '--store', store, join(folder, 'rounds.csv')]);
    const server = await start(['serve', '--store', store, '--port', '0', '--json']);
    onTestFinished(async () => {
      await server.stop();
      await browser.close();
      rmSync(folder, { recursive: true });
    });
    const { page, errors } = await openPage(browser);
    await page.goto((JSON.parse(server.line) as { url: string }).url);
    await ready(page);
    const rows = await page.locator('.systems tbody th').allInnerTexts();
    expect(rows.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      'Box of eight Alpha · measured · MLPerf Inference v6.1',
      'Box of eight Alpha · measured · MLPerf Inference v6.0',
    ]);
    await page.locator('#dataset').selectOption('MLPerf Inference v6.0');
    await expect.poll(() => page.locator('.systems tbody tr').count()).toBe(1);
    expect(await page.locator('.systems tbody th').innerText()).not.toContain('Inference');
    await shot(page, 'rounds');
    expect(errors).toEqual([]);
  });
});
