import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeApi } from './client.ts';

// A document without <meta name="assay-data" content="static">: asks the server.
const page = { querySelector: () => null } as unknown as Document;

function answer(replies: Readonly<Record<string, readonly [number, unknown]>>): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    const [status, body] = replies[path] ?? [404, { error: { code: 'not_found', message: 'no' } }];
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

describe('the client', () => {
  it('follows the pages of a list to the last one', async () => {
    const first = 'api/v1/curves?model=a%2Fb&limit=1000';
    const asked = answer({
      [first]: [200, { items: [{ id: '1' }], total: 3, next: 'x&y' }],
      [`${first}&cursor=x%26y`]: [200, { items: [{ id: '2' }, { id: '3' }], total: 3, next: null }],
    });
    const curves = await makeApi(page).curves('a/b');
    expect(curves.ok && curves.value.map((curve) => curve.id)).toEqual(['1', '2', '3']);
    expect(asked).toHaveLength(2);
  });

  it('says in words what went wrong', async () => {
    answer({
      'api/v1/models?limit=1000': [401, ''],
      'api/v1/runs/a%2Fb': [404, { error: { code: 'not_found', message: 'no such run' } }],
      'api/v1/session': [502, '<html>'],
    });
    const api = makeApi(page);
    const failed = [await api.models(), await api.run('a/b'), await api.session()];
    expect(failed.map((one) => (one.ok ? '' : one.message))).toEqual([
      'This page needs the address with the token that `assay serve` printed.',
      'no such run',
      'api/v1/session: the reply is not JSON (status 502)',
    ]);
  });

  it('says so when nobody answers', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('fetch failed');
    });
    const reply = await makeApi(page).session();
    expect(!reply.ok && reply.message).toContain('assay serve');
  });

  it('asks for a window of a run, and for its fragments', async () => {
    const asked = answer({});
    await makeApi(page).events('r', { from_ms: 1.5, to_ms: 9, detail: 'tokens', limit: 7 });
    expect(asked).toEqual(['api/v1/runs/r/events?from_ms=1.5&to_ms=9&detail=tokens&limit=7']);
  });

  it('adds nothing to a copy', async () => {
    const copy = {
      querySelector: () => ({ getAttribute: () => 'static' }),
      location: { protocol: 'https:' },
    } as unknown as Document;
    const reply = await makeApi(copy).act('s', { kind: 'comment', text: 'x' });
    expect(!reply.ok && reply.message).toContain('a copy');
  });
});
