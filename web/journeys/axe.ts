// axe-core in the page: no serious or critical finding.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface Found {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function accessible(page: Page): Promise<void> {
  // By the debugger, not as a script element: the page's policy stays as strict as it is.
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Found[] }> } };
    const result = await axe.run();
    return result.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
  });
  const told = found.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`);
  expect(told).toEqual([]);
}
