// Asks for documents: from `assay serve` by its REST API, or from the files of `assay export`.
//
// Which of the two it is stands in the page (<meta name="assay-data">). Exported pages also open
// from disk, where fetch() is refused: there each document is a script that calls assayData(name,
// document). Nothing is ever asked from elsewhere than where the page came from.

import { type Result, failure, success } from '../base/result.ts';
import type {
  Act,
  Curve,
  CurveList,
  Datasheet,
  DatasheetList,
  Events,
  LiveCurve,
  LiveRun,
  ModelList,
  Run,
  SafetyComparison,
  Session,
  Submission,
  SubmissionList,
} from './generated.ts';

export interface Window {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly detail: 'streams' | 'tokens';
  readonly limit: number;
}

export interface LiveSink {
  store(): void;
  run(run: LiveRun): void;
  curve(curve: LiveCurve): void;
}

export interface Api {
  readonly live: boolean;
  session(): Promise<Result<Session>>;
  models(): Promise<Result<ModelList>>;
  curves(model: string): Promise<Result<readonly Curve[]>>;
  curve(id: string): Promise<Result<Curve>>;
  run(id: string): Promise<Result<Run>>;
  events(id: string, window: Window | null): Promise<Result<Events>>;
  // `margin`: percentage points; 0 for none.
  compareSafety(a: string, b: string, margin: number): Promise<Result<SafetyComparison>>;
  datasheets(): Promise<Result<DatasheetList>>;
  datasheet(id: string): Promise<Result<Datasheet>>;
  submissions(): Promise<Result<SubmissionList>>;
  submission(id: string): Promise<Result<Submission>>;
  act(submission: string, act: Act): Promise<Result<Submission>>;
  // Calls the sink as things change; returns what stops it.
  follow(sink: LiveSink): () => void;
}

export function makeApi(document: Document): Api {
  const meta = document.querySelector('meta[name="assay-data"]')?.getAttribute('content');
  return meta === 'static' ? staticApi(document) : serverApi();
}

const CURVES_A_PAGE = 1000;

function serverApi(): Api {
  const get = <T>(path: string): Promise<Result<T>> => fetchJson<T>(`api/v1/${path}`);
  const part = encodeURIComponent;
  return {
    live: true,
    session: () => get('session'),
    models: () => get('models?limit=1000'),
    curves: async (model) => {
      const all: Curve[] = [];
      let cursor = '';
      for (;;) {
        const page = await get<CurveList>(
          `curves?model=${part(model)}&limit=${CURVES_A_PAGE}` +
            (cursor === '' ? '' : `&cursor=${part(cursor)}`),
        );
        if (!page.ok) return page;
        all.push(...page.value.items);
        if (page.value.next === null) return success(all);
        cursor = page.value.next;
      }
    },
    curve: (id) => get(`curves/${part(id)}`),
    run: (id) => get(`runs/${part(id)}`),
    events: (id, window) =>
      get(
        `runs/${part(id)}/events${
          window === null
            ? '?limit=50000'
            : `?from_ms=${window.from_ms}&to_ms=${window.to_ms}&detail=${window.detail}` +
              `&limit=${window.limit}`
        }`,
      ),
    compareSafety: (a, b, margin) =>
      get(
        `compare/safety?a=${part(a)}&b=${part(b)}` + (margin > 0 ? `&margin_points=${margin}` : ''),
      ),
    datasheets: () => get('datasheets'),
    datasheet: (id) => get(`datasheets/${part(id)}`),
    submissions: () => get('submissions?limit=1000'),
    submission: (id) => get(`submissions/${part(id)}`),
    act: (id, act) =>
      fetchJson(`api/v1/submissions/${part(id)}/acts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(act),
      }),
    follow: (sink) => follow('api/v1/live', sink),
  };
}

async function fetchJson<T>(path: string, init?: RequestInit): Promise<Result<T>> {
  let reply: Response;
  try {
    reply = await fetch(path, init ?? { headers: { accept: 'application/json' } });
  } catch {
    return failure('The server does not answer. Is `assay serve` still running?');
  }
  if (reply.status === 401) {
    return failure('This page needs the address with the token that `assay serve` printed.', 401);
  }
  try {
    const body: unknown = await reply.json();
    if (reply.ok) return success(body as T);
    const told = (body as { error?: { message?: string } }).error?.message;
    return failure(told ?? `${path}: status ${reply.status}`, reply.status);
  } catch {
    return failure(`${path}: the reply is not JSON (status ${reply.status})`, reply.status);
  }
}

function follow(path: string, sink: LiveSink): () => void {
  if (typeof EventSource === 'undefined') return () => undefined;
  const source = new EventSource(path);
  source.addEventListener('store', () => sink.store());
  const hear = <T>(name: string, tell: (value: T) => void): void => {
    source.addEventListener(name, (event: MessageEvent) => {
      try {
        tell(JSON.parse(event.data as string) as T);
      } catch {
        // A broken event shows nothing; the next one comes within a second.
      }
    });
  };
  hear<LiveRun>('run', (run) => sink.run(run));
  hear<LiveCurve>('curve', (curve) => sink.curve(curve));
  return () => source.close();
}

type Load = <T>(name: string) => Promise<Result<T>>;

function staticApi(document: Document): Api {
  const fromDisk = document.location.protocol === 'file:';
  const load: Load = fromDisk ? scriptLoader(document) : (name) => fetchJson(`data/${name}.json`);
  return {
    live: false,
    session: async () => success({ version: '', role: 'reader', writable: false, revision: 0 }),
    models: () => load('models'),
    curves: async (model) => {
      const all = await load<CurveList>('curves');
      return all.ok ? success(all.value.items.filter((curve) => curve.model === model)) : all;
    },
    curve: async (id) => {
      const all = await load<CurveList>('curves');
      if (!all.ok) return all;
      const one = all.value.items.find((curve) => curve.id === id);
      return one === undefined ? failure(`curve ${id} is not in this folder.`) : success(one);
    },
    run: (id) => load(`runs/${id}`),
    events: (id, window) => staticEvents(load, id, window),
    compareSafety: async () => failure('These files hold no event logs to compare from.'),
    datasheets: () => load('datasheets'),
    datasheet: (id) => load(`datasheets/${id}`),
    submissions: () => load('submissions'),
    submission: (id) => load(`submissions/${id}`),
    act: async () => failure('These files are a copy: nothing can be added here.'),
    follow: () => () => undefined,
  };
}

// Only small runs have their fragments exported; else the streams have to do.
async function staticEvents(
  load: Load,
  id: string,
  window: Window | null,
): Promise<Result<Events>> {
  if (window?.detail === 'tokens') {
    const tokens = await load<Events>(`runs/${id}/tokens`);
    if (tokens.ok) return tokens;
  }
  return load(`runs/${id}/events`);
}

function scriptLoader(document: Document): Load {
  const arrived = new Map<string, (value: unknown) => void>();
  const going = new Map<string, Promise<Result<unknown>>>();
  const host = document.defaultView as unknown as {
    assayData?: (name: string, value: unknown) => void;
  };
  host.assayData = (name, value): void => arrived.get(name)?.(value);
  const start = (name: string): Promise<Result<unknown>> =>
    new Promise((resolve) => {
      const script = document.createElement('script');
      const end = (result: Result<unknown>): void => {
        arrived.delete(name);
        going.delete(name);
        script.remove();
        resolve(result);
      };
      arrived.set(name, (value) => end(success(value)));
      script.addEventListener('error', () =>
        end(failure(`data/${name}.js is not in this folder.`)),
      );
      script.src = `data/${name}.js`;
      document.head.appendChild(script);
    });
  return <T>(name: string) => {
    const promise = going.get(name) ?? start(name);
    going.set(name, promise);
    return promise as Promise<Result<T>>;
  };
}
