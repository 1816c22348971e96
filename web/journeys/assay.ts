// The real program for a journey: its endpoint, a run of it, its store and its server.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ASSAY =
  process.env['ASSAY_BIN'] ?? fileURLToPath(new URL('../../build/release/assay', import.meta.url));

// What it prints; `codes` are the exit codes that are as good as 0.
export function assay(args: readonly string[], codes: readonly number[] = []): string {
  try {
    return execFileSync(ASSAY, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (fault) {
    const ended = fault as { status: number | null; stdout: string; stderr: string };
    if (ended.status !== null && codes.includes(ended.status)) return ended.stdout;
    throw new Error(`assay ${args.join(' ')}: exit ${ended.status}: ${ended.stderr}`);
  }
}

// Starts it; the exit code, once it ended.
export function begin(args: readonly string[]): Promise<number | null> {
  const child = spawn(ASSAY, args, { stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

export interface Running {
  // The first line that it printed.
  readonly line: string;
  readonly stop: () => Promise<void>;
}

export async function start(args: readonly string[]): Promise<Running> {
  const child: ChildProcess = spawn(ASSAY, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    child.once('error', reject);
    void gone.then(() => reject(new Error(`assay ${args.join(' ')} ended`)));
  });
  return {
    line,
    stop: async () => {
      child.kill('SIGINT');
      await gone;
    },
  };
}
