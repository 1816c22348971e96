// What a party sees at a hub, and what it may do next. The hub decides; this only spares a person
// the buttons that it would refuse.

import type { Association, Federation, Owned, Party } from '../api/hub_client.ts';

const isOwner = (list: readonly Owned[], id: string | undefined, party: Party): boolean =>
  list.some((one) => one.id === id && one.owner === party.organisation);

// On which side of an association the party stands; null: on none.
export function sideOf(
  one: Association,
  federation: Federation,
  party: Party,
): 'benchmark' | 'other' | null {
  switch (party.role) {
    case 'benchmark_owner':
      return isOwner(federation.benchmarks, one.benchmark, party) ? 'benchmark' : null;
    case 'data_owner':
      return isOwner(federation.datasets, one.dataset, party) ? 'other' : null;
    case 'model_owner':
      return isOwner(federation.models, one.model, party) ? 'other' : null;
  }
}

export function mayApprove(one: Association, federation: Federation, party: Party): boolean {
  const asked = one.asked_as === 'benchmark_owner' ? 'benchmark' : 'other';
  const side = sideOf(one, federation, party);
  return one.approval === 'pending' && side !== null && side !== asked;
}

export function mayReject(one: Association, federation: Federation, party: Party): boolean {
  return one.approval !== 'rejected' && sideOf(one, federation, party) !== null;
}

// What the party can put together: ids of its own against ids of the other side.
export function partners(
  federation: Federation,
  party: Party,
): { readonly benchmarks: readonly string[]; readonly others: readonly string[] } {
  const ids = (list: readonly Owned[], own: boolean): readonly string[] =>
    list.filter((one) => !own || one.owner === party.organisation).map((one) => one.id);
  const others = (): readonly string[] => {
    const datasets = ids(federation.datasets, party.role === 'data_owner');
    const models = ids(federation.models, party.role === 'model_owner');
    return [
      ...(party.role === 'model_owner' ? [] : datasets.map((id) => `dataset ${id}`)),
      ...(party.role === 'data_owner' ? [] : models.map((id) => `model ${id}`)),
    ];
  };
  return {
    benchmarks: ids(federation.benchmarks, party.role === 'benchmark_owner'),
    others: others(),
  };
}

export interface Orderable {
  readonly benchmark: string;
  readonly dataset: string;
  readonly model: string;
}

// Every dataset with every model whose association with one benchmark of the party is approved.
export function orderable(federation: Federation, party: Party): readonly Orderable[] {
  if (party.role !== 'benchmark_owner') return [];
  const approved = federation.associations.filter((one) => one.approval === 'approved');
  return federation.benchmarks
    .filter((one) => one.owner === party.organisation)
    .flatMap(({ id }) => {
      const of = approved.filter((one) => one.benchmark === id);
      return of.flatMap(({ dataset }) =>
        dataset === undefined
          ? []
          : of.flatMap(({ model }) =>
              model === undefined ? [] : [{ benchmark: id, dataset, model }],
            ),
      );
    });
}

// "1, 8" as numbers; null where one is no whole number above 0.
export function levelsOf(text: string): readonly number[] | null {
  const parts = text.split(',').map((one) => Number(one.trim() === '' ? NaN : one));
  return parts.every((one) => Number.isInteger(one) && one > 0) ? parts : null;
}
