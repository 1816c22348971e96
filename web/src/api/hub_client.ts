// Asks `assay hub serve` (src/serving/hub/answer.h). The party's token goes with each request, in a
// header: there is no cookie that another page could use.

import { type Result, failure, success } from '../base/result.ts';

export type Role = 'benchmark_owner' | 'data_owner' | 'model_owner';

export interface Party {
  readonly organisation: string;
  readonly role: Role;
}

export interface Measurement {
  readonly concurrency: readonly number[];
  readonly samples: number;
  readonly max_output_tokens: number;
  readonly curve?: boolean;
  readonly scorer?: string;
  readonly accuracy_min?: number;
  readonly safety_min?: string;
  readonly fields: readonly string[];
}

export interface Owned {
  readonly id: string;
  readonly owner: string;
  readonly description: string;
}

export interface Association {
  readonly benchmark: string;
  readonly dataset?: string;
  readonly model?: string;
  readonly asked_by: string;
  readonly asked_as: Role;
  readonly approval: 'pending' | 'approved' | 'rejected';
}

export interface HubRun {
  readonly id: string;
  readonly benchmark: string;
  readonly dataset: string;
  readonly model: string;
  readonly site: string;
  readonly state: string;
  readonly reason?: string;
  readonly document?: string;
}

// How far a dataset's preparation is, a step an entry, without names.
export interface Preparation {
  readonly id: string;
  readonly owner: string;
  readonly steps: readonly {
    readonly total: number;
    readonly done: number;
    readonly running: number;
    readonly waiting: number;
    readonly failed: number;
    readonly skipped: number;
  }[];
}

export interface Federation {
  readonly benchmarks: readonly (Owned & { readonly measurement: Measurement })[];
  readonly datasets: readonly (Owned & { readonly sha256: string; readonly rows: number })[];
  readonly models: readonly Owned[];
  readonly preparations: readonly Preparation[];
  readonly associations: readonly Association[];
  readonly runs: readonly HubRun[];
  readonly entries: number;
  readonly head: string;
}

// The fields that docs/formats/sites.md has for each kind.
export interface Act {
  readonly kind: 'add_benchmark' | 'add_model' | 'associate' | 'approve' | 'reject' | 'order';
  readonly key: string;
  readonly [field: string]: unknown;
}

export interface HubApi {
  party(): Promise<Result<Party>>;
  federation(): Promise<Result<Federation>>;
  act(act: Act): Promise<Result<unknown>>;
}

export function hubApi(token: string): HubApi {
  return {
    party: () => ask(token, 'party'),
    federation: () => ask(token, 'federation'),
    act: (act) => ask(token, 'acts', act),
  };
}

// An act with the same key counts once, however often it is sent.
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function ask<T>(token: string, path: string, body?: object): Promise<Result<T>> {
  try {
    const reply = await fetch(`api/v1/${path}`, {
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const said = (await reply.json()) as { error?: { message: string } };
    if (reply.ok) return success(said as T);
    if (reply.status === 401) return failure('The hub knows no such token, or it was revoked.');
    return failure(said.error?.message ?? `HTTP ${String(reply.status)}`);
  } catch {
    return failure('The hub does not answer: was assay hub serve ended?');
  }
}
