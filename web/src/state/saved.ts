// Views that a reader keeps under names. A view is an address, so this is a list of names and
// addresses, as text for the browser's storage; what is in there may be anything.

import { readSelection, writeSelection } from './selection.ts';

export interface SavedView {
  readonly name: string;
  // Canonical: an address of this page, never of another.
  readonly address: string;
}

export const SAVED_MAX = 100;
export const NAME_MAX = 80;

export const canonical = (address: string): string => writeSelection(readSelection(address));

export function readSaved(text: string | null): readonly SavedView[] {
  let told: unknown;
  try {
    told = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(told)) return [];
  let out: readonly SavedView[] = [];
  for (const one of (told as unknown[]).slice(0, SAVED_MAX).reverse()) {
    const { name, address } = (one ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name === 'string' && typeof address === 'string') {
      out = withSaved(out, name, address);
    }
  }
  return out;
}

// The latest first. The same name again is the same view, changed.
export function withSaved(
  list: readonly SavedView[],
  name: string,
  address: string,
): readonly SavedView[] {
  const called = name.trim().slice(0, NAME_MAX);
  if (called === '') return list;
  return [{ name: called, address: canonical(address) }, ...withoutSaved(list, called)].slice(
    0,
    SAVED_MAX,
  );
}

export const withoutSaved = (list: readonly SavedView[], name: string): readonly SavedView[] =>
  list.filter((one) => one.name !== name);
