// Asks `assay site serve` (src/serving/site/site_page.h).

import { type Result, failure, success } from '../base/result.ts';

export interface SiteRun {
  readonly id: string;
  readonly state: string;
  readonly benchmark: string;
  readonly dataset: string;
  readonly model: string;
  readonly document?: string;
}

export interface SiteState {
  readonly runs: readonly SiteRun[];
  readonly release: {
    readonly fields: readonly string[];
    readonly k_minimum: number;
    readonly digits: number;
  };
}

export interface Shown {
  readonly document: string;
  readonly sha256: string;
  readonly kept_back: readonly string[];
}

export interface SiteApi {
  state(): Promise<Result<SiteState>>;
  review(run: string): Promise<Result<Shown>>;
  release(run: string, sha256: string): Promise<Result<unknown>>;
  withhold(run: string): Promise<Result<unknown>>;
}

export function siteApi(): SiteApi {
  return {
    state: () => ask('api/v1/site'),
    review: (run) => ask('api/v1/site/review', { run }),
    release: (run, sha256) => ask('api/v1/site/release', { run, sha256 }),
    withhold: (run) => ask('api/v1/site/withhold', { run }),
  };
}

async function ask<T>(path: string, body?: object): Promise<Result<T>> {
  try {
    const reply = await fetch(
      path,
      body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
          },
    );
    const said = (await reply.json()) as { error?: { message: string } };
    if (reply.ok) return success(said as T);
    return failure(said.error?.message ?? `HTTP ${String(reply.status)}`);
  } catch {
    return failure('The site\u2019s server does not answer: was assay site serve ended?');
  }
}
