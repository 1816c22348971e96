// What share of the replies was at most so slow: empirical distribution functions, percentiles
// marked.

import type { Distribution } from '../api/generated.ts';
import { duration, number3 } from '../base/format.ts';
import { type Theme, colourOf } from '../base/theme.ts';
import {
  type Drawing,
  type Size,
  type Target,
  TEXT_SIZE,
  clipped,
  emptyNote,
  makeFrame,
} from './axes.ts';
import { domainOf } from './scale.ts';
import type { Mark } from './scene.ts';

export interface Share {
  readonly name: string;
  readonly share: number;
  readonly value: number;
}

export interface DistributionOptions {
  readonly unit: 'ms' | 'tokens';
  readonly theme: Theme;
}

const MARKED: readonly (readonly [string, number])[] = [
  ['50.0', 0.5],
  ['90.0', 0.9],
  ['99.0', 0.99],
];
const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [7, 3],
  [2, 3],
  [9, 3, 2, 3],
];

// The steps of a distribution: from its quantiles, else its percentiles, else its histogram.
export function sharesOf(name: string, distribution: Distribution): readonly Share[] {
  const quantiles = distribution.quantiles ?? [];
  if (quantiles.length > 1) {
    return quantiles.map(([share, value]) => ({ name, share, value }));
  }
  const percentiles = Object.entries(distribution.percentiles ?? {}).map(([key, value]) => ({
    name,
    share: Number(key) / 100,
    value,
  }));
  if (distribution.min != null) percentiles.push({ name, share: 0, value: distribution.min });
  if (distribution.max != null) percentiles.push({ name, share: 1, value: distribution.max });
  return percentiles.sort((x, y) => x.share - y.share);
}

export function distributionChart(
  distributions: readonly (readonly [string, Distribution])[],
  size: Size,
  options: DistributionOptions,
): Drawing<Share> {
  const { theme } = options;
  const curves = distributions.map(([name, one]) => sharesOf(name, one));
  const values = curves
    .flat()
    .map((share) => share.value)
    .filter((value) => value > 0);
  const [low, high] = domainOf(values, 'log', false);
  const text = options.unit === 'ms' ? duration : number3;
  const frame = makeFrame(
    size,
    { kind: 'log', low, high, text, title: options.unit === 'ms' ? 'time' : 'tokens' },
    {
      kind: 'linear',
      low: 0,
      high: 1,
      title: 'share of replies',
      text: (share) => `${Math.round(share * 100)} %`,
    },
    theme,
  );
  const targets: Target<Share>[] = [];
  const marks: Mark[] = [];
  curves.forEach((shares, at) => {
    const colour = colourOf(theme, at);
    const dash = DASHES[at % DASHES.length];
    const xy: number[] = [];
    for (const share of shares) {
      if (share.value <= 0) continue;
      const x = frame.x.at(share.value);
      const y = frame.y.at(share.share);
      if (xy.length > 0) xy.push(x, xy[xy.length - 1] as number);
      xy.push(x, y);
      targets.push({ x, y, datum: share });
    }
    marks.push({
      kind: 'path',
      xy,
      stroke: colour,
      width: 2,
      ...(dash === undefined ? {} : { dash }),
    });
    const percentiles = distributions[at]?.[1].percentiles ?? {};
    const dots = MARKED.flatMap(([key, share]) => {
      const value = percentiles[key];
      return value === undefined || value <= 0 ? [] : [frame.x.at(value), frame.y.at(share)];
    });
    marks.push({
      kind: 'symbols',
      xy: dots,
      shape: 'circle',
      size: 3.5,
      fill: colour,
      stroke: theme.ground,
    });
    const name = shares[0]?.name ?? '';
    marks.push({
      kind: 'text',
      x: frame.plot.left + frame.plot.width - 6,
      y: frame.plot.top + frame.plot.height - 10 - 15 * (curves.length - 1 - at),
      text: name,
      fill: colour,
      size: TEXT_SIZE,
      anchor: 'end',
      bold: true,
      halo: theme.ground,
    });
  });
  if (targets.length === 0) marks.push(emptyNote(frame.plot, 'Nothing was recorded.', theme));
  const label = `Distributions of ${distributions.map(([name]) => name).join(', ')}`;
  return {
    scene: {
      ...size,
      ground: theme.ground,
      label,
      marks: [...frame.under, clipped(frame.plot, marks)],
    },
    frame,
    targets,
  };
}
