// Small multiples: a panel for each value of a facet, all with the same axes. In a panel the curves
// of its value are drawn over those of all others, so that each group is seen in its place.

import { words } from '../base/format.ts';
import { type Theme, colourOf } from '../base/theme.ts';
import { type Series, envelope, isOpenLoop, spellings } from '../state/curves.ts';
import type { Facet } from '../state/selection.ts';
import {
  type Drawing,
  type Frame,
  type Plot,
  type Size,
  TEXT_SIZE,
  type Target,
  makeFrame,
} from './axes.ts';
import type { Spot } from './curve_chart.ts';
import { type ScaleKind, domainOf } from './scale.ts';
import { type Mark, movedBy } from './scene.ts';
import { DASH_SIMULATED, staircase } from './series_marks.ts';

export interface MultiplesOptions {
  readonly facet: Facet;
  readonly x: ScaleKind;
  readonly y: ScaleKind;
  readonly x_title: string;
  readonly y_title: string;
  readonly theme: Theme;
}

// The groups of most curves have panels; what is left out is said.
export const PANELS_MAX = 12;
const PANEL_WIDTH_MIN = 260;
const TITLE = 18;

interface Group {
  readonly value: string;
  readonly spots: readonly (readonly Spot[])[];
}

export function panelGrid(width: number, panels: number): { columns: number; rows: number } {
  const columns = Math.max(1, Math.min(4, panels, Math.floor(width / PANEL_WIDTH_MIN)));
  return { columns, rows: Math.max(1, Math.ceil(panels / columns)) };
}

export function groupsOf(series: readonly Series[], facet: Facet): readonly Group[] {
  const out = new Map<string, Spot[][]>();
  const spelled = spellings(
    series.map((one) => one.curve),
    facet,
  );
  for (const one of series) {
    const spots = one.points
      .map((point, i): Spot => ({ series: one, point, value: one.values[i] as number }))
      .filter(({ point }) => (point.tps_per_user ?? 0) > 0 && !isOpenLoop(point))
      .sort((p, q) => p.point.concurrency - q.point.concurrency);
    if (spots.length === 0) continue;
    const value = spelled(one.curve);
    const list = out.get(value);
    if (list === undefined) out.set(value, [spots]);
    else list.push(spots);
  }
  return [...out]
    .map(([value, spots]) => ({ value, spots }))
    .sort((p, q) => q.spots.length - p.spots.length || p.value.localeCompare(q.value));
}

export function multiplesChart(
  series: readonly Series[],
  size: Size,
  options: MultiplesOptions,
): Drawing<Spot> {
  const { theme } = options;
  const groups = groupsOf(series, options.facet);
  const shown = groups.slice(0, PANELS_MAX);
  const { columns, rows } = panelGrid(size.width, shown.length);
  const cell = { width: size.width / columns, height: size.height / rows };
  const all = groups.flatMap((group) => group.spots.flat());
  const domain = {
    x: domainOf(
      all.map((spot) => spot.point.tps_per_user as number),
      options.x,
      options.x === 'linear',
    ),
    y: domainOf(
      all.map((spot) => spot.value),
      options.y,
      options.y === 'linear',
    ),
  };
  const marks: Mark[] = [];
  const targets: Target<Spot>[] = [];
  const panels = new Map<string, { readonly plot: Plot; readonly moved: Move }>();
  shown.forEach((group, i) => {
    const at = { x: (i % columns) * cell.width, y: Math.floor(i / columns) * cell.height + TITLE };
    const frame = panelFrame({ ...cell, height: cell.height - TITLE }, domain, options);
    const moved: Move = (spot) => [
      at.x + frame.x.at(spot.point.tps_per_user as number),
      at.y + frame.y.at(spot.value),
    ];
    const { plot } = frame;
    panels.set(group.value, {
      plot: { ...plot, left: plot.left + at.x, top: plot.top + at.y },
      moved,
    });
    marks.push(...movedBy(frame.under, at.x, at.y));
    marks.push(...panelMarks(group, groups, moved, theme));
    marks.push(titleMark(group, at, options));
    for (const curve of group.spots) {
      for (const spot of curve) {
        const [x, y] = moved(spot);
        targets.push({ x, y, datum: spot });
      }
    }
  });
  const label = `${options.y_title} against interactivity in ${shown.length} panels`;
  const spelled = spellings(
    series.map((one) => one.curve),
    options.facet,
  );
  const panelOf = (spot: Spot): { readonly plot: Plot; readonly moved: Move } | undefined =>
    panels.get(spelled(spot.series.curve));
  return {
    scene: { ...size, ground: theme.ground, label, marks },
    frame: panelFrame(size, domain, options),
    targets,
    plotOf: (spot) => panelOf(spot)?.plot ?? { left: 0, top: 0, width: 0, height: 0 },
    trace: (spot) => {
      const panel = panelOf(spot);
      const curve = shown.flatMap((group) => group.spots).find((c) => c[0]?.series === spot.series);
      if (panel === undefined || curve === undefined) return [];
      const xy = staircase(curve.flatMap(panel.moved));
      const stroke = spot.series.look < 0 ? theme.ink : colourOf(theme, spot.series.look);
      return [
        { kind: 'path', xy, stroke: theme.ground, width: 5, opacity: 0.85 },
        { kind: 'path', xy, stroke, width: 2.25 },
      ];
    },
  };
}

type Move = (spot: Spot) => [number, number];

function panelFrame(
  size: Size,
  domain: { readonly x: readonly [number, number]; readonly y: readonly [number, number] },
  options: MultiplesOptions,
): Frame {
  return makeFrame(
    size,
    { kind: options.x, low: domain.x[0], high: domain.x[1], title: options.x_title },
    { kind: options.y, low: domain.y[0], high: domain.y[1], title: options.y_title },
    options.theme,
  );
}

// A line of simulated curves alone is dashed, as in every chart.
const dashOf = (curves: readonly (readonly Spot[])[]): { readonly dash?: readonly number[] } =>
  curves.every((curve) => curve[0]?.series.curve.kind === 'simulated')
    ? { dash: DASH_SIMULATED }
    : {};

// The envelope of all groups stands behind each panel: how near does this group come to it?
function panelMarks(group: Group, groups: readonly Group[], moved: Move, theme: Theme): Mark[] {
  const out: Mark[] = [];
  const bestOf = (spots: readonly Spot[]): readonly number[] => {
    const at = new Map(spots.map((spot) => [`${spot.point.tps_per_user}/${spot.value}`, spot]));
    return staircase(
      envelope(spots.map((s) => ({ x: s.point.tps_per_user as number, y: s.value }))).flatMap(
        ({ x, y }) => {
          const spot = at.get(`${x}/${y}`);
          return spot === undefined ? [] : moved(spot);
        },
      ),
    );
  };
  const overall = bestOf(groups.flatMap((one) => one.spots.flat()));
  out.push({ kind: 'path', xy: overall, stroke: theme.ink, width: 4, opacity: 0.16 });
  const opacity = Math.max(0.1, Math.min(0.6, 12 / group.spots.length));
  for (const curve of group.spots) {
    const look = curve[0]?.series.look ?? -1;
    if (look >= 0) continue;
    const xy = staircase(curve.flatMap(moved));
    out.push({ kind: 'path', xy, stroke: theme.muted, width: 1, opacity });
  }
  for (const curve of group.spots) {
    const look = curve[0]?.series.look ?? -1;
    if (look < 0) continue;
    const xy = staircase(curve.flatMap(moved));
    out.push({ kind: 'path', xy, stroke: colourOf(theme, look), width: 2, ...dashOf([curve]) });
  }
  const best = bestOf(group.spots.flat());
  out.push({ kind: 'path', xy: best, stroke: theme.ink, width: 1.25, ...dashOf(group.spots) });
  return out;
}

function titleMark(
  group: Group,
  at: { readonly x: number; readonly y: number },
  options: MultiplesOptions,
): Mark {
  const value = options.facet === 'accelerators' ? `${group.value} ×` : words(group.value);
  const curves = group.spots.length === 1 ? '1 curve' : `${group.spots.length} curves`;
  return {
    kind: 'text',
    x: at.x + 10,
    y: at.y - 2,
    text: `${value} · ${curves}`,
    fill: options.theme.ink,
    size: TEXT_SIZE,
    anchor: 'start',
    bold: true,
  };
}
