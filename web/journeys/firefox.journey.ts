// Smoke journeys in Firefox: the page opens, is filtered, walked by keys, read, priced and kept.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Firefox, KEY } from './firefox.ts';
import { smallStore } from './fixture.ts';
import { dated } from './fixture_data.ts';
import { type Host, serveStatic } from './host.ts';

const STAGE = '[data-chart="curve"] .stage';
const CARD = `document.querySelector('[data-chart="curve"] .hover-card').innerText`;
const points = `Number(document.querySelector('${STAGE}').dataset.points)`;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('in Firefox', () => {
  let firefox: Firefox;
  let host: Host;
  beforeAll(async () => {
    host = await serveStatic(dated(smallStore()));
    firefox = await Firefox.start(1440, 900);
  });
  afterAll(async () => {
    await firefox.close();
    await host.close();
    expect(firefox.errors).toEqual([]);
  });

  it('systems are filtered by the pointer and a report is opened by keys', async () => {
    await firefox.open(host.address);
    expect(await firefox.value(points)).toBe(72);
    await firefox.click('input[name="kind"][value="measured"]');
    await firefox.click('input[name="accelerator"][value="GB200"]');
    await firefox.until(`${points} === 12`);
    await firefox.focus(STAGE);
    await firefox.press(KEY.ArrowRight, KEY.ArrowRight);
    expect(await firefox.value<string>(CARD)).toMatch(/^Borealis rack/);
    await firefox.press(KEY.Enter);
    await firefox.until(`document.querySelector('.report').innerText.includes('STEADY STATE')`);
    expect(
      await firefox.value<number>(`document.querySelectorAll('.run-charts .stage').length`),
    ).toBeGreaterThan(2);
    await firefox.shot('firefox-report');
    const before = await firefox.value<string>('location.hash');
    await firefox.press('j');
    await firefox.until(`location.hash !== ${JSON.stringify(before)}`);
    await firefox.press('k');
    await firefox.until(`location.hash === ${JSON.stringify(before)}`);
    await firefox.press(KEY.Escape);
    await firefox.until(`document.querySelector('.report') === null`);
    // The focus is back on the chart from which the report was opened.
    expect(
      await firefox.value(`document.activeElement === document.querySelector('${STAGE}')`),
    ).toBe(true);
  });

  it('a figure is shown by date, kept as a view, and found again', async () => {
    await firefox.open(`${host.address}#/explore?horizontal=measured`);
    await firefox.until(`${points} === 5`);
    await firefox.shot('firefox-history');
    await firefox.click('.saved summary');
    await firefox.focus('#view-name');
    await firefox.press(...'by date', KEY.Enter);
    await firefox.until(`document.querySelector('.saved li a').innerText === 'by date'`);
    await firefox.press(KEY.Escape);
    await firefox.open(`${host.address}#/cost`);
    await firefox.until(`document.querySelector('.answer').innerText.length > 20`);
    await firefox.shot('firefox-cost');
    await firefox.click('.saved summary');
    await firefox.click('.saved li a');
    await firefox.until(`location.hash === '#/explore?horizontal=measured'`);
  });

  it('the event view draws, and nothing serious is in the way of any reader', async () => {
    await firefox.open(`${host.address}#/events?run=p0-16`);
    await firefox.until(`document.querySelector('canvas') !== null`);
    await firefox.shot('firefox-events');
    await firefox.open(`${host.address}#/explore`);
    await firefox.value(`${axe}; true`);
    const found = await firefox.value<string>(
      `axe.run().then((result) => result.violations
        .filter((one) => one.impact === 'serious' || one.impact === 'critical')
        .map((one) => one.id).join(' '))`,
    );
    expect(found).toBe('');
  });
});
