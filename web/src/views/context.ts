// What every part of the page is given: the selection, the data, and how to change the selection.

import type { Api } from '../api/client.ts';
import type { Curve, ModelList } from '../api/generated.ts';
import type { Theme } from '../base/theme.ts';
import type { Spot } from '../charts/curve_chart.ts';
import type { Series } from '../state/curves.ts';
import type { LiveSpot } from '../state/live.ts';
import type { Selection } from '../state/selection.ts';

export interface Context {
  readonly api: Api;
  readonly selection: Selection;
  readonly theme: Theme;
  readonly models: ModelList['items'];
  // All curves of the model, strongest first.
  readonly curves: readonly Curve[];
  readonly series: readonly Series[];
  // Points that are being measured.
  readonly live: readonly LiveSpot[];
  readonly loading: boolean;
  // `push` makes a new step of the browser's history; `replace` is for what changes while
  // dragging.
  set(patch: Partial<Selection>, how?: 'push' | 'replace'): void;
  hover(spot: Spot | null): void;
}

// A part of the page: made once, told of each change.
export interface Part {
  readonly element: HTMLElement;
  update(context: Context): void;
  // The pointer is on a point of some chart.
  highlight?(spot: Spot | null): void;
}
