// Firefox, driven by WebDriver BiDi: a browser of another make for the smoke journeys. Commands
// and replies are JSON on a WebSocket that Firefox opens itself; no driver program stands between.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import { SCREENS } from './host.ts';

interface Reply {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

interface Entry {
  readonly level: string;
  readonly text: string | null;
}

// The codes of keys that are no text, as WebDriver has them.
export const KEY = {
  Enter: '\uE007',
  Escape: '\uE00C',
  Tab: '\uE004',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
} as const;

export class Firefox {
  // What the console or the page itself called an error or a warning.
  readonly errors: string[] = [];
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private context = '';
  private sent = 0;
  private readonly program: ChildProcess;
  private readonly socket: WebSocket;
  private readonly profile: string;

  private constructor(program: ChildProcess, socket: WebSocket, profile: string) {
    this.program = program;
    this.socket = socket;
    this.profile = profile;
    socket.on('message', (data: Buffer) => this.hear(JSON.parse(data.toString('utf8')) as Reply));
  }

  static async start(width: number, height: number): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'assay-firefox-'));
    const path = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr';
    const program = spawn(
      path,
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
    );
    const socket = new WebSocket(`${await addressOf(program, path)}/session`);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const out = new Firefox(program, socket, profile);
    await out.ask('session.new', { capabilities: {} });
    await out.ask('session.subscribe', { events: ['log.entryAdded'] });
    const tree = (await out.ask('browsingContext.getTree', {})) as {
      readonly contexts: readonly { readonly context: string }[];
    };
    out.context = tree.contexts[0]?.context ?? '';
    await out.ask('browsingContext.setViewport', {
      context: out.context,
      viewport: { width, height },
    });
    return out;
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.program.once('exit', resolve));
    this.socket.close();
    this.program.kill('SIGTERM');
    await gone;
    rmSync(this.profile, { recursive: true, force: true });
  }

  async open(url: string): Promise<void> {
    await this.ask('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
    await this.until(`document.querySelector('#explorer').dataset.ready === 'true'`);
  }

  // The value of an expression in the page: text, a number or a truth.
  async value<T extends string | number | boolean>(expression: string): Promise<T> {
    const said = (await this.ask('script.evaluate', {
      expression,
      target: { context: this.context },
      awaitPromise: true,
    })) as {
      readonly type: string;
      readonly result?: { readonly value?: T };
      readonly exceptionDetails?: { readonly text: string };
    };
    if (said.type !== 'success') throw new Error(`${expression}: ${said.exceptionDetails?.text}`);
    return said.result?.value as T;
  }

  // Waits in the page, which looks again at each frame, until the expression holds.
  async until(expression: string): Promise<void> {
    const held = await this.value<boolean>(`new Promise((resolve) => {
      const end = performance.now() + 20000;
      const look = () => {
        let holds = false;
        try { holds = Boolean(${expression}); } catch { /* not there yet */ }
        if (holds || performance.now() > end) resolve(holds);
        else setTimeout(look, 20);
      };
      look();
    })`);
    if (!held) throw new Error(`not seen within 20 s: ${expression}`);
  }

  async focus(selector: string): Promise<void> {
    await this.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    await this.value(`document.querySelector(${JSON.stringify(selector)}).focus(), true`);
  }

  async press(...keys: readonly string[]): Promise<void> {
    const actions = keys.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.ask('input.performActions', {
      context: this.context,
      actions: [{ type: 'key', id: 'keys', actions }],
    });
  }

  // A real click in the middle of what the selector names.
  async click(selector: string): Promise<void> {
    await this.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    const at = JSON.parse(
      await this.value<string>(`(() => {
        const element = document.querySelector(${JSON.stringify(selector)});
        element.scrollIntoView({ block: 'center' });
        const box = element.getBoundingClientRect();
        return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]);
      })()`),
    ) as [number, number];
    const [x, y] = at.map(Math.round) as [number, number];
    await this.ask('input.performActions', {
      context: this.context,
      actions: [
        {
          type: 'pointer',
          id: 'mouse',
          actions: [
            { type: 'pointerMove', x, y },
            { type: 'pointerDown', button: 0 },
            { type: 'pointerUp', button: 0 },
          ],
        },
      ],
    });
  }

  async shot(name: string): Promise<void> {
    const { data } = (await this.ask('browsingContext.captureScreenshot', {
      context: this.context,
    })) as { readonly data: string };
    mkdirSync(SCREENS, { recursive: true });
    writeFileSync(`${SCREENS}${name}.png`, Buffer.from(data, 'base64'));
  }

  private ask(method: string, params: object): Promise<unknown> {
    const id = (this.sent += 1);
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (reply) => {
        if (reply.type === 'success') resolve(reply.result);
        else reject(new Error(`${method}: ${reply.error}: ${reply.message}`));
      });
    });
  }

  private hear(reply: Reply): void {
    if (reply.id !== undefined) {
      this.waiting.get(reply.id)?.(reply);
      this.waiting.delete(reply.id);
    } else if (reply.method === 'log.entryAdded') {
      const { level, text } = reply.params as Entry;
      if (level === 'error' || level === 'warn') this.errors.push(text ?? '');
    }
  }
}

// Firefox says on standard error where it listens.
function addressOf(program: ChildProcess, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    program.once('error', () =>
      reject(new Error(`${path} is not there: apt install firefox-esr, or FIREFOX=PATH`)),
    );
    program.once('exit', (code) => reject(new Error(`${path} ended at its start: ${code}`)));
    if (program.stderr === null) return reject(new Error('no output'));
    createInterface({ input: program.stderr }).on('line', (line) => {
      const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}
