// A note in the place of charts on which Offline runs have no point.

import { h } from '../base/dom.ts';
import type { Spot } from '../charts/curve_chart.ts';
import { offlineSpots } from '../charts/offline_chart.ts';
import type { ChartCard } from './chart_card.ts';
import type { Context } from './context.ts';

const OFFLINE_NOTE = 'Only Offline runs are shown: they have no interactivity and no concurrency.';

// Where there is nothing but Offline runs, the charts on which they have no place are hidden: axes
// without a point would be invented figures.
export function makeOfflineOnly(
  curve: ChartCard<Spot>,
  three: readonly ChartCard<Spot>[],
): { readonly element: HTMLElement; update(now: Context, usual: boolean): void } {
  const element = h('p', { class: 'note', hidden: true }, OFFLINE_NOTE);
  return {
    element,
    update({ series, live }: Context, usual: boolean): void {
      const alone =
        live.length === 0 &&
        offlineSpots(series).length > 0 &&
        series.every((one) => one.points.length === 0);
      curve.element.hidden = alone && usual;
      for (const card of three) card.element.hidden = alone;
      element.hidden = !curve.element.hidden;
    },
  };
}
