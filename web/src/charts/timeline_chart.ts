// A run over time: one figure in buckets, with warm-up, drain and the steady-state window shaded.

import { short } from '../base/format.ts';
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
import { type ScaleKind, domainOf } from './scale.ts';
import type { Mark } from './scene.ts';

export interface TimeSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface Span {
  readonly name: string;
  readonly from_s: number;
  readonly to_s: number;
  readonly steady: boolean;
}

export interface Moment {
  readonly name: string;
  readonly at_s: number;
  readonly value: number;
}

export interface TimelineOptions {
  readonly y_title: string;
  readonly y: ScaleKind;
  readonly text?: (value: number) => string;
  readonly theme: Theme;
}

export function timelineChart(
  width_s: number,
  series: readonly TimeSeries[],
  spans: readonly Span[],
  size: Size,
  options: TimelineOptions,
): Drawing<Moment> {
  const { theme } = options;
  const buckets = Math.max(1, ...series.map((one) => one.values.length));
  const all = series.flatMap((one) =>
    one.values.filter((value): value is number => value !== null),
  );
  const [low, high] = domainOf(all, options.y, options.y === 'linear');
  const frame = makeFrame(
    size,
    { kind: 'linear', low: 0, high: buckets * width_s, title: 'seconds' },
    { kind: options.y, low, high, title: options.y_title, text: options.text ?? short },
    theme,
  );
  const targets: Target<Moment>[] = [];
  const lines: Mark[] = [];
  series.forEach((one, at) => {
    const colour = colourOf(theme, at);
    let xy: number[] = [];
    const flush = (): void => {
      if (xy.length >= 4) {
        lines.push({
          kind: 'path',
          xy,
          stroke: colour,
          width: 1.75,
          ...(at === 1 ? { dash: [6, 3] } : {}),
        });
      }
      xy = [];
    };
    one.values.forEach((value, i) => {
      if (value === null || (options.y === 'log' && value <= 0)) return flush();
      const at_s = (i + 0.5) * width_s;
      const x = frame.x.at(at_s);
      const y = frame.y.at(value);
      xy.push(x, y);
      targets.push({ x, y, datum: { name: one.name, at_s, value } });
    });
    flush();
    if (series.length > 1) {
      lines.push({
        kind: 'text',
        x: frame.plot.left + 8,
        y: frame.plot.top + 12 + 15 * at,
        text: one.name,
        fill: colour,
        size: TEXT_SIZE,
        anchor: 'start',
        bold: true,
        halo: theme.ground,
      });
    }
  });
  if (targets.length === 0) lines.push(emptyNote(frame.plot, 'Nothing was recorded.', theme));
  const label = `${series.map((one) => one.name).join(', ')} over the run`;
  return {
    scene: {
      ...size,
      ground: theme.ground,
      label,
      marks: [...spanMarks(spans, frame, theme), ...frame.under, clipped(frame.plot, lines)],
    },
    frame,
    targets,
  };
}

function spanMarks(spans: readonly Span[], frame: Drawing<Moment>['frame'], theme: Theme): Mark[] {
  const { left, top, width, height } = frame.plot;
  const bound = (s: number): number => Math.min(left + width, Math.max(left, frame.x.at(s)));
  return spans.flatMap((span): Mark[] => {
    const from = bound(span.from_s);
    const to = bound(span.to_s);
    if (to - from < 1) return [];
    const marks: Mark[] = [
      {
        kind: 'rect',
        x: from,
        y: top,
        w: to - from,
        h: height,
        fill: span.steady ? theme.good : theme.shade,
        opacity: span.steady ? 0.1 : 0.14,
      },
    ];
    if (to - from > span.name.length * 6) {
      marks.push({
        kind: 'text',
        x: (from + to) / 2,
        y: top + height - 6,
        text: span.name,
        fill: theme.muted,
        size: TEXT_SIZE - 1,
        anchor: 'middle',
      });
    }
    return marks;
  });
}
