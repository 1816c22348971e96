// Offline: throughput by system, a bar each, highest first. An Offline run has all its work in hand
// and no user at the other end, so it is on no curve. An elected one is the curve's own point of
// highest concurrency and says so.

import { number3, short } from '../base/format.ts';
import { type Theme, colourOf } from '../base/theme.ts';
import { type Series, isCeiling } from '../state/curves.ts';
import { type Drawing, type Frame, type Size, TEXT_SIZE, type Target, emptyNote } from './axes.ts';
import type { Spot } from './curve_chart.ts';
import { makeScale } from './scale.ts';
import type { Mark } from './scene.ts';
import { DASH_SIMULATED } from './series_marks.ts';

// The table under the chart has the others.
export const BARS_MAX = 24;
const ROW = 36;
const BAR = 12;
const EDGE = 14;
const BOTTOM = 34;

export function offlineSpots(series: readonly Series[]): readonly Spot[] {
  const out: Spot[] = [];
  for (const one of series) {
    if (one.ceiling !== null) {
      out.push({ series: one, point: one.ceiling, value: one.ceiling_value });
    }
    one.points.forEach((point, i) => {
      if (point.offline === 'elected') {
        out.push({ series: one, point, value: one.values[i] as number });
      }
    });
  }
  return out.sort((p, q) => q.value - p.value);
}

export function offlineHeight(bars: number): number {
  return EDGE + Math.max(1, Math.min(bars, BARS_MAX)) * ROW + BOTTOM;
}

export function offlineChart(
  series: readonly Series[],
  size: Size,
  options: { readonly unit: string; readonly theme: Theme },
): Drawing<Spot> {
  const { theme } = options;
  const all = offlineSpots(series);
  const shown = all.slice(0, BARS_MAX);
  const frame = frameOf(shown, size);
  const targets: Target<Spot>[] = [];
  const marks: Mark[] = [...axis(frame, options.unit, theme)];
  shown.forEach((spot, i) => {
    const y = frame.plot.top + i * ROW;
    const x = frame.x.at(spot.value);
    marks.push(...bar(spot, frame, x, y, theme));
    targets.push({ x, y: y + 15 + BAR / 2, datum: spot });
  });
  if (shown.length === 0) marks.push(emptyNote(frame.plot, 'No Offline run here.', theme));
  const label = `Offline throughput of ${all.length} runs, a bar each, highest first`;
  return { scene: { ...size, ground: theme.ground, label, marks }, frame, targets };
}

function frameOf(shown: readonly Spot[], size: Size): Frame {
  const plot = {
    left: EDGE,
    top: EDGE,
    // Room for the value after the longest bar.
    width: Math.max(60, size.width - 2 * EDGE - 74),
    height: Math.max(ROW, size.height - EDGE - BOTTOM),
  };
  const high = shown.reduce((most, spot) => Math.max(most, spot.value), 0);
  const right = plot.left + plot.width;
  return {
    plot,
    x: makeScale('linear', 0, high > 0 ? high : 1, plot.left, right),
    y: makeScale('linear', 0, Math.max(1, shown.length), plot.top + plot.height, plot.top),
    under: [],
  };
}

function axis(frame: Frame, unit: string, theme: Theme): Mark[] {
  const { left, top, width, height } = frame.plot;
  const base = top + height;
  const out: Mark[] = [];
  for (const tick of frame.x.ticks(Math.max(2, Math.floor(width / 110)))) {
    const x = frame.x.at(tick);
    out.push({ kind: 'path', xy: [x, top, x, base], stroke: theme.grid, width: 1 });
    out.push({
      kind: 'text',
      x,
      y: base + 14,
      text: short(tick),
      fill: theme.muted,
      size: TEXT_SIZE,
      anchor: x - left < 10 ? 'start' : 'middle',
    });
  }
  out.push({
    kind: 'text',
    x: left + width,
    y: base + 29,
    text: `${unit} →`,
    fill: theme.ink,
    size: TEXT_SIZE,
    anchor: 'end',
  });
  return out;
}

function bar(spot: Spot, frame: Frame, x: number, y: number, theme: Theme): Mark[] {
  const { series, point, value } = spot;
  const { left } = frame.plot;
  const simulated = series.curve.kind === 'simulated';
  const colour = series.look < 0 ? theme.muted : colourOf(theme, series.look);
  const top = y + 15;
  const said = [
    series.title,
    ...(simulated ? ['simulated'] : []),
    ...(isCeiling(point) ? [] : ['elected: its point of highest concurrency']),
  ].join(' · ');
  const room = Math.floor((frame.plot.width + 60) / 6.4);
  return [
    {
      kind: 'text',
      x: left,
      y: y + 10,
      text: said.length > room ? `${said.slice(0, room - 1)}…` : said,
      fill: theme.ink,
      size: TEXT_SIZE,
      anchor: 'start',
      halo: theme.ground,
    },
    {
      kind: 'rect',
      x: left,
      y: top,
      w: Math.max(1, x - left),
      h: BAR,
      fill: colour,
      opacity: simulated ? 0.18 : 1,
    },
    ...(simulated
      ? ([
          {
            kind: 'path',
            xy: [left, top, x, top, x, top + BAR, left, top + BAR],
            stroke: colour,
            width: 1.5,
            dash: DASH_SIMULATED,
          },
        ] satisfies Mark[])
      : []),
    {
      kind: 'text',
      x: x + 6,
      y: top + BAR - 2,
      text: number3(value),
      fill: theme.ink,
      size: TEXT_SIZE,
      anchor: 'start',
      bold: true,
    },
  ];
}
