// What a picture says under itself when it leaves the page: of which results it is, how it was
// chosen, and that it vouches for nothing.

import { number3, whole, words } from '../base/format.ts';
import type { Curve } from '../api/generated.ts';
import { basesText } from '../state/power.ts';
import { FACETS, showsPower } from '../state/selection.ts';
import type { Context } from './context.ts';
import { FACET_TITLES, PER_TITLES } from './filters.ts';

const LISTED_MAX = 12;

function counted(curves: readonly Curve[], of: (curve: Curve) => string): string {
  const counts = new Map<string, number>();
  for (const curve of curves) counts.set(of(curve), (counts.get(of(curve)) ?? 0) + 1);
  return [...counts]
    .sort((p, q) => q[1] - p[1])
    .map(([name, count]) => `${whole(count)} ${words(name)}`)
    .join(', ');
}

export function pictureNotes({ series, selection }: Context): readonly string[] {
  const curves = series.map((one) => one.curve);
  const out = [
    `${selection.model}${selection.dataset === '' ? '' : `, ${selection.dataset}`}: ` +
      `${whole(curves.length)} ${curves.length === 1 ? 'system' : 'systems'} ` +
      `(${counted(curves, (curve) => curve.kind)}); ` +
      `accuracy ${counted(curves, (curve) => curve.accuracy)}; ` +
      `throughput ${PER_TITLES[selection.per]}.`,
  ];
  const bases = showsPower(selection) ? basesText(curves) : '';
  if (bases !== '') out.push(`Power: ${bases}.`);
  const names = series.filter((one) => one.look >= 0).map((one) => one.title);
  if (names.length > 0) {
    const more = names.length > LISTED_MAX ? ` and ${whole(names.length - LISTED_MAX)} more` : '';
    out.push(`In colour: ${names.slice(0, LISTED_MAX).join('; ')}${more}.`);
  }
  const chosen = FACETS.filter((facet) => selection.filters[facet].length > 0).map(
    (facet) => `${FACET_TITLES[facet].toLowerCase()}: ${selection.filters[facet].join(', ')}`,
  );
  const { concurrency_min: low, concurrency_max: high } = selection;
  if (low > 0 || Number.isFinite(high)) {
    chosen.push(
      `concurrency from ${number3(low)}${Number.isFinite(high) ? ` to ${number3(high)}` : ''}`,
    );
  }
  if (selection.since !== '') chosen.push(`dated from ${selection.since}`);
  if (selection.until !== '') chosen.push(`dated to ${selection.until}`);
  if (selection.search.trim() !== '') chosen.push(`search: ${selection.search.trim()}`);
  if (chosen.length > 0) out.push(`Only ${chosen.join('; ')}.`);
  out.push(
    'Drawn by Assay from results that were imported. It does not say that they are published, ' +
      'reviewed or comparable beyond what stands here.',
  );
  return out;
}
