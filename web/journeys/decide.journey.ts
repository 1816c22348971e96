import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessible } from './axe.ts';
import { eventsOf } from './fixture_events.ts';
import { smallStore } from './fixture.ts';
import { type Host, openPage, ready, serveStatic, shot, startBrowser } from './host.ts';

let host: Host;
let browser: Browser;

beforeAll(async () => {
  const documents = new Map(smallStore());
  // A million fragments: 250 lanes, 40 streams each, 100 fragments each.
  const million = eventsOf(250, 40, 100, 3);
  documents.set('runs/p1-1024/events', million);
  documents.set('runs/p1-1024/tokens', million);
  host = await serveStatic(documents);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  await host.close();
});

describe('deciding', () => {
  it('answers who serves most users, at what cost, and whether it is accurate', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    let clicks = 0;
    await page.exposeFunction('clicked', () => {
      clicks += 1;
    });
    await page.evaluate(() =>
      window.addEventListener('click', () =>
        (window as unknown as { clicked: () => void }).clicked(),
      ),
    );
    // One click and one number: the SLO of 50 tok/s per user.
    await page.getByRole('button', { name: 'Cost and SLO' }).click();
    await page.getByLabel('Each user gets at least').first().fill('50');
    await page.keyboard.press('Enter');
    const box = page.locator('.answer').first();
    const answer = await box.innerText();
    // The limit that the user did not give says so.
    expect(answer).toMatch(
      /^Of the systems that give 50 tok\/s per user with the first token within 2 s \(default\)/,
    );
    // Its sweep ended with the promise still kept: a lower bound, above what all others reach.
    expect(answer).toMatch(/Borealis rack serves the most users, ≥ 2,048 per system/);
    expect(answer).toMatch(/measured systems beside simulated ones; accuracy passed of \d/);
    // Nobody gave a price: no dollars, and no verdict on them.
    expect(answer).toMatch(/cheapest is not known: give a price/);
    expect(answer).not.toContain('$');
    // Who, how many, at what cost, and is it proven: on the first screen, without scrolling.
    const most = page.getByRole('region', { name: 'Serves the most users' });
    expect(await most.innerText()).toMatch(/Borealis rack/);
    expect(await most.innerText()).toMatch(/Users per system\s+≥ 2,048\s+at concurrency 2,048/);
    expect(await most.innerText()).toMatch(/give a price for its accelerators/);
    expect(await most.innerText()).toMatch(/✓ passed\s+scored at concurrency [\d,]+/);
    await page.getByLabel('Price of an accelerator').first().fill('3');
    await page.keyboard.press('Enter');
    await expect.poll(() => box.innerText()).toMatch(/\$[\d.]+ per million tokens/);
    expect(await most.innerText()).toMatch(/at \$3\.00 per accelerator-hour, your price/);
    await expect.poll(() => clicks).toBe(1);
    const bottom = await most.evaluate((e) => e.getBoundingClientRect().bottom);
    expect(bottom).toBeLessThan(1000);
    await shot(page, 'cost');
    await accessible(page);
    // The second click: the run in which the accuracy was scored.
    await most.getByRole('button', { name: /^scored at concurrency/ }).click();
    const report = page.getByRole('complementary', { name: 'Run report' });
    await report.getByRole('heading', { name: 'Accuracy' }).waitFor();
    expect(await report.innerText()).toMatch(/84\.2\s+82\.3\s+✓ passed/);
    await page.getByRole('button', { name: 'Close the report' }).click();
    await page.getByText('A price for each accelerator').click();
    await page.getByLabel('GB200').last().fill('12');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('price_of=12%3AGB200');
    await page.getByText('The arithmetic').click();
    // And the report of the point that the answer rests on.
    await page
      .getByRole('button', { name: /^Report of concurrency/ })
      .first()
      .click();
    await page.locator('.report h2').first().waitFor();
    await page.getByRole('button', { name: 'Close the report' }).click();
    await expect.poll(() => page.url()).toContain('#/cost');
    expect(errors).toEqual([]);
  });

  it('compares two systems point by point', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.address);
    await ready(page);
    await page.getByRole('button', { name: 'Compare Aurora 8x as A', exact: true }).click();
    await page.getByRole('button', { name: 'Compare Cirrus 8x as B' }).click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'What differs' }).waitFor();
    const text = await page.locator('.compare-tables').innerText();
    expect(text).toContain('MI355X');
    expect(text).toMatch(/2,048\s+[\d,.]+/);
    await shot(page, 'compare');
    await accessible(page);
    expect(errors).toEqual([]);
  });

  it('reads the review board', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.address}#/review`);
    await page.getByRole('button', { name: 'sub-1' }).click();
    await page.getByText('Which warm-up was used?').waitFor();
    await shot(page, 'review');
    await accessible(page);
    // To the curve in one click, and back.
    const found = page.locator('.checked').first();
    expect(await found.innerText()).toContain('passed, no findings of the rules.');
    await found.getByRole('button').first().click();
    await page.locator('[data-chart="curve"]').waitFor();
    await expect.poll(() => page.url()).toContain('pin=c0');
    await page.goBack();
    await found.waitFor();
    expect(errors).toEqual([]);
  });

  it('moves smoothly through a run of a million fragments', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.address}#/run?run=p1-1024`);
    await page.getByRole('button', { name: 'Event view' }).click();
    const stage = page.locator('.waterfall');
    await page.getByText('10,000 streams in view').waitFor();
    await shot(page, 'events');
    expect(await stage.evaluate((e) => Number(e.dataset['fragments']))).toBe(1000000);
    const box = await stage.boundingBox();
    if (box === null) throw new Error('no waterfall');
    const frames: number[] = [];
    const frame = async (): Promise<void> => {
      frames.push(await stage.evaluate((e) => Number(e.dataset['frameMs'])));
    };
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let i = 0; i < 14; i += 1) {
      await page.mouse.wheel(0, -240);
      await frame();
    }
    await page.mouse.down();
    for (let i = 0; i < 20; i += 1) {
      await page.mouse.move(box.x + box.width / 2 - i * 15, box.y + box.height / 2);
      await frame();
    }
    await page.mouse.up();
    await shot(page, 'events-zoomed');
    await page.waitForURL(/from_ms=/);
    frames.sort((x, y) => x - y);
    const worst = frames.at(-1) ?? NaN;
    process.stdout.write(
      `event view, 1,000,000 fragments: a frame ${frames[17]} ms median, ${worst} ms at most\n`,
    );
    await accessible(page);
    expect(worst).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });
});
