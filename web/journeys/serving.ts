// A store in the explorer as `assay serve` shows it, for one test, which is its end too.

import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { start } from './assay.ts';
import { type Watched, openPage, ready, startBrowser } from './host.ts';

export interface Opened extends Watched {
  readonly browser: Browser;
  readonly url: string; // with the token, for a second page
}

// `folder`: that of the test; it goes with the server.
export async function openStore(store: string, folder: string): Promise<Opened> {
  const server = await start(['serve', '--store', store, '--port', '0', '--json']);
  const browser = await startBrowser();
  onTestFinished(async () => {
    await server.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });
  const watched = await openPage(browser);
  const { url } = JSON.parse(server.line) as { url: string };
  await watched.page.goto(url);
  await ready(watched.page);
  return { ...watched, browser, url };
}
