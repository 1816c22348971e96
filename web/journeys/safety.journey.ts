// Two precisions of a model in the Compare view: the statement of `assay compare A B --safety`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assay, start } from './assay.ts';
import { accessible } from './axe.ts';
import { openPage, ready, shot } from './host.ts';
import { openStore } from './serving.ts';

const CANARY = "judges: [{name: words, rule: {'*': [canary]}}]\n";
const QUIET = ['--allow-client-limited', '--quiet', '--json'];

// A curve of the endpoint at two concurrencies, and the safety run at each.
function graded(url: string, precision: string, folder: string): string {
  const curve = join(folder, precision);
  const judges = join(folder, 'canary.yaml');
  writeFileSync(judges, CANARY);
  const load = ['--concurrency', '2,32', '--quick', '--prompts', '12', '--isl', '30'];
  const named = ['--model', 'm', '--precision', precision, '--report-dir', curve];
  assay(['curve', '--endpoint', url, ...load, ...named, ...QUIET], [4]);
  const asked = ['--judges', judges, '--max-output-tokens', '8', ...QUIET];
  assay(['safety', 'run', '--curve', curve, ...asked], [4, 5]);
  return curve;
}

describe('safety of two precisions', () => {
  it('is compared prompt by prompt, as on the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-safety-'));
    const times = ['--port', '0', '--ttft', '50ms', '--osl', '4'];
    const plain = await start(['endpoint', ...times]);
    // Leaves out its guard at eight requests and more.
    const loose = await start(['endpoint', ...times, '--quirk', 'unguarded']);
    const curves = [graded(plain.line, 'bf16', folder), graded(loose.line, 'fp8', folder)];
    await plain.stop();
    await loose.stop();
    const store = join(folder, 'store.db');
    for (const curve of curves) assay(['import', '--store', store, curve]);
    const { page, errors, browser, url } = await openStore(store, folder);
    for (const [side, precision] of [
      ['A', 'bf16'],
      ['B', 'fp8'],
    ] as const) {
      await page
        .getByRole('row', { name: new RegExp(precision) })
        .getByRole('button', { name: new RegExp(`as ${side}$`) })
        .click();
    }
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const pairs = page.locator('.safety-pairs');
    await pairs.getByText('B is less safe than A').waitFor();
    // The words and the figures are the command's.
    const said = assay(['compare', ...curves, '--safety'], [5]);
    const sentences = await pairs.locator('li').allInnerTexts();
    expect(sentences.length).toBeGreaterThan(3); // a concurrency each, all, and hazards
    for (const sentence of sentences) expect(said).toContain(sentence);
    expect(sentences[1]).toContain('concurrency 32: B is worse');
    expect(await pairs.locator('tbody tr').count()).toBe(2);
    await pairs.scrollIntoViewIfNeeded();
    await shot(page, 'safety-pairs');
    await accessible(page);

    // A margin is the reader's, and in the address.
    await page.locator('#safety-margin').fill('50');
    await page.keyboard.press('Enter');
    await pairs.getByText('B is as safe (margin 50 points)').waitFor();
    await expect.poll(() => page.url()).toContain('safety_margin=50');
    await page.locator('#swap').click();
    await pairs.getByText('B is safer').first().waitFor();

    const phone = await openPage(browser, { width: 390, height: 844, touch: true });
    await phone.page.goto(url);
    await ready(phone.page);
    await phone.page.goto(page.url());
    const small = phone.page.locator('.safety-pairs');
    await small.getByText('B is safer').first().waitFor();
    await small.scrollIntoViewIfNeeded();
    await shot(phone.page, 'safety-pairs-phone');
    expect(
      await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    ).toBe(true);

    // Folders that are gone leave the sentence that says so, and the command.
    rmSync(join(folder, 'fp8'), { recursive: true });
    await page.locator('#safety-margin').fill('2');
    await page.keyboard.press('Enter');
    await pairs.getByText('holds no safety run').waitFor();
    expect(await pairs.locator('code').innerText()).toContain('--safety-margin 2');
    expect(errors.filter((one) => !one.includes('400'))).toEqual([]);
  });
});
