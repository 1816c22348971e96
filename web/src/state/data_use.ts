// What a dataset's policies answer to a use: a look into the table that the server computed.

import type { DataUse } from '../api/generated.ts';

export const USE_AXES = ['purposes', 'commercial', 'nonprofit', 'methods', 'regions'] as const;
export type UseAxis = (typeof USE_AXES)[number];

// A use; '' is not stated.
export type Asked = Readonly<Record<UseAxis, string>>;

// Stands for each country that no policy names.
export const ELSEWHERE = 'ZZ';

export type UseVerdict = NonNullable<DataUse['verdicts']>[number];

// The place of a value on its axis: a country that no policy names is elsewhere, what is no value
// at all is not stated.
function placeOf(use: DataUse, axis: UseAxis, value: string): number {
  const at = use[axis].indexOf(value);
  if (at >= 0) return at;
  const elsewhere = axis === 'regions' && /^[A-Z]{2}$/.test(value);
  return Math.max(0, use[axis].indexOf(elsewhere ? ELSEWHERE : ''));
}

export function answerOf(use: DataUse, asked: Asked): UseVerdict | null {
  const at = USE_AXES.reduce(
    (sum, axis) => sum * use[axis].length + placeOf(use, axis, asked[axis]),
    0,
  );
  const verdict = use.answers[at];
  return verdict === undefined ? null : (use.verdicts[verdict] ?? null);
}

const COUNTRY = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

// "Germany (DE)", "the EU", "another country".
export function regionText(code: string): string {
  if (code === '') return 'not stated';
  if (code === ELSEWHERE) return 'another country';
  if (code === 'EU') return 'the EU';
  const name = COUNTRY.of(code) ?? code;
  return name === code ? code : `${name} (${code})`;
}
