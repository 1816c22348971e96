import { describe, expect, it } from 'vitest';
import type { Association, Federation, Party, Role } from '../api/hub_client.ts';
import { levelsOf, mayApprove, mayReject, orderable, partners } from './hub.ts';

const party = (role: Role, organisation: string): Party => ({ role, organisation });
const committee = party('benchmark_owner', 'Committee');
const hospital = party('data_owner', 'Hospital');
const vendor = party('model_owner', 'Vendor');

const asked = (more: Partial<Association>): Association => ({
  benchmark: 'triage',
  asked_by: 'Committee',
  asked_as: 'benchmark_owner',
  approval: 'pending',
  ...more,
});

const owned = (id: string, owner: string): { id: string; owner: string; description: string } => ({
  id,
  owner,
  description: '',
});

const measurement = { concurrency: [1], samples: 1, max_output_tokens: 1, fields: [] };
const federation: Federation = {
  benchmarks: [
    { ...owned('triage', 'Committee'), measurement },
    { ...owned('other', 'Others'), measurement },
  ],
  datasets: [{ ...owned('ours', 'Hospital'), sha256: '', rows: 1 }],
  preparations: [],
  models: [owned('model', 'Vendor'), owned('second', 'Vendor')],
  associations: [
    asked({ dataset: 'ours', approval: 'approved' }),
    asked({ model: 'model', approval: 'approved' }),
    asked({ model: 'second' }),
  ],
  runs: [],
  entries: 0,
  head: '',
};

describe('a hub', () => {
  it('lets the side approve that did not ask', () => {
    const ours = asked({ dataset: 'ours' });
    expect(mayApprove(ours, federation, hospital)).toBe(true);
    expect(mayApprove(ours, federation, committee)).toBe(false);
    expect(mayApprove(ours, federation, vendor)).toBe(false);
    expect(mayApprove(ours, federation, party('data_owner', 'Another'))).toBe(false);
    expect(mayApprove(ours, federation, party('model_owner', 'Hospital'))).toBe(false);
    const theirs = asked({ dataset: 'ours', asked_by: 'Hospital', asked_as: 'data_owner' });
    expect(mayApprove(theirs, federation, committee)).toBe(true);
    expect(mayApprove({ ...theirs, approval: 'approved' }, federation, committee)).toBe(false);
  });

  it('lets either side reject, once', () => {
    const ours = asked({ dataset: 'ours', approval: 'approved' });
    expect(mayReject(ours, federation, hospital)).toBe(true);
    expect(mayReject(ours, federation, committee)).toBe(true);
    expect(mayReject(ours, federation, vendor)).toBe(false);
    expect(mayReject({ ...ours, approval: 'rejected' }, federation, hospital)).toBe(false);
  });

  it('offers runs of what both sides approved', () => {
    expect(orderable(federation, committee)).toEqual([
      { benchmark: 'triage', dataset: 'ours', model: 'model' },
    ]);
    expect(orderable(federation, vendor)).toEqual([]);
    expect(orderable(federation, party('benchmark_owner', 'Others'))).toEqual([]);
  });

  it('puts own things together with those of others', () => {
    expect(partners(federation, committee)).toEqual({
      benchmarks: ['triage'],
      others: ['dataset ours', 'model model', 'model second'],
    });
    expect(partners(federation, hospital)).toEqual({
      benchmarks: ['triage', 'other'],
      others: ['dataset ours'],
    });
  });

  it('reads levels, or none', () => {
    expect(levelsOf('1, 8,32')).toEqual([1, 8, 32]);
    for (const text of ['', '1,', '0', '1.5', '-2', 'x']) expect(levelsOf(text), text).toBeNull();
  });
});
