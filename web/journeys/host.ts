// A web host and a browser for the journeys: what `assay export` writes, on a port of this
// machine, under the content security policy of `assay serve`.

import { readFileSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, type Locator, type Page, chromium } from 'playwright-core';
import type { Documents } from './fixture.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const DIST = at('../dist/');
export const SCREENS = at('../screens/');

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  json: 'application/json',
};

export function staticPage(): string {
  return readFileSync(`${DIST}index.html`, 'utf8').replace('content="api"', 'content="static"');
}

export interface Host {
  readonly address: string;
  readonly close: () => Promise<void>;
}

export async function serveStatic(documents: Documents): Promise<Host> {
  const texts = new Map(
    [...documents].map(([name, value]) => [`/data/${name}.json`, JSON.stringify(value)]),
  );
  const server = createServer((request, reply) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const file = path === '/' ? 'index.html' : path.slice(1);
    const body =
      file === 'index.html'
        ? staticPage()
        : (texts.get(path) ??
          (/^[\w.-]+$/.test(file) && existsSync(DIST + file) ? readFileSync(DIST + file) : null));
    reply.setHeader('content-security-policy', POLICY);
    reply.setHeader(
      'content-type',
      TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    );
    reply.statusCode = body === null ? 404 : 200;
    reply.end(body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export interface Watched {
  readonly page: Page;
  // What the console or the page itself called an error, and any refused request.
  readonly errors: string[];
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly touch?: boolean;
}

export async function openPage(browser: Browser, look: Look = {}): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1440, height: look.height ?? 1000 },
    colorScheme: look.dark === true ? 'dark' : 'light',
    hasTouch: look.touch ?? false,
    acceptDownloads: true,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1|file:|blob:|data:)/.test(request.url()))
      errors.push(`asked ${request.url()}`);
  });
  return { page, errors };
}

export const facet = (page: Page, name: string, value: string): Locator =>
  page.locator(`input[name="${name}"][value="${value}"]`);

export async function ready(page: Page): Promise<void> {
  await page.waitForSelector('#explorer[data-ready="true"]');
}

export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: `${SCREENS}${name}.png` });
}
