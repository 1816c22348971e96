// Results of others in the explorer: the same system in two rounds of a suite.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assay } from './assay.ts';
import { shot } from './host.ts';
import { openStore } from './serving.ts';

// The results site's columns, with figures that nobody measured.
const TABLE = [
  'Organization,SystemName,MlperfModel,Scenario,Result,Units,version',
  'Alpha,Box of eight,deepseek-r1,Offline,1000,Tokens/s,v6.0',
  'Alpha,Box of eight,deepseek-r1,Offline,1700,Tokens/s,v6.1',
].join('\n');

describe('rounds of a suite', () => {
  it('are told apart where a system was in both', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-rounds-'));
    const store = join(folder, 'store.db');
    writeFileSync(join(folder, 'rounds.csv'), TABLE);
    assay(['import', '--store', store, join(folder, 'rounds.csv')]);
    const { page, errors } = await openStore(store, folder);
    const rows = await page.locator('.systems tbody th').allInnerTexts();
    expect(rows.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      'Box of eight Alpha · measured · MLPerf Inference v6.1',
      'Box of eight Alpha · measured · MLPerf Inference v6.0',
    ]);
    const legend = await page.locator('.legend li').allInnerTexts();
    expect(legend.map((one) => one.trim()).sort()).toEqual([
      'Box of eight, MLPerf Inference v6.0',
      'Box of eight, MLPerf Inference v6.1',
    ]);
    await page.getByText('Only Offline runs are shown').waitFor();
    expect(await page.locator('[data-chart="curve"]').isVisible()).toBe(false);
    expect(await page.locator('[data-chart="offline"]').isVisible()).toBe(true);
    await page.locator('#dataset').selectOption('MLPerf Inference v6.0');
    await expect.poll(() => page.locator('.systems tbody tr').count()).toBe(1);
    expect(await page.locator('.systems tbody th').innerText()).not.toContain('Inference');
    await shot(page, 'rounds');
    expect(errors).toEqual([]);
  });
});
