// The waterfall of a run's streams: one row a lane, time to the right; waiting, prefill, decode.
//
// A million fragments stay smooth because the picture is a raster of the canvas' own pixels: each
// stream writes the few pixels that it covers, a stream narrower than a pixel writes one, and
// lanes that share a row of pixels are thinned. So the work of a frame is bounded by what the
// screen can show, not by the run. Fragments are drawn as ticks once they are far enough apart to
// be seen.

import type { Events } from '../api/generated.ts';
import type { Theme } from '../base/theme.ts';

export interface Streams {
  readonly count: number;
  readonly lanes: number;
  readonly run_ms: number;
  readonly lane: Int32Array;
  // ms from the run's first event; NaN where it never came so far.
  readonly due: Float64Array;
  readonly sent: Float64Array;
  readonly first: Float64Array;
  readonly end: Float64Array;
  readonly gap: Float64Array;
  readonly failed: Uint8Array;
  // Streams by lane, each by time: `order` from `starts[lane]` to `starts[lane + 1]`.
  readonly order: Int32Array;
  readonly starts: Int32Array;
  // Fragments by stream: `at` from `from[stream]` to `from[stream + 1]`; empty when there are
  // none.
  readonly from: Int32Array;
  readonly at: Float64Array;
  // A silence longer than this is a stall.
  readonly stall_ms: number;
}

export interface View {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly from_lane: number;
  readonly to_lane: number;
}

const STALL_FACTOR = 8;
const STALL_MS_MIN = 50;
// Ticks nearer than this many pixels would be a solid bar.
const TICK_PIXELS_MIN = 3;

export function makeStreams(events: Events): Streams {
  const columns = events.streams;
  const lane = Int32Array.from(columns.lane ?? []);
  const count = lane.length;
  const times = (list: readonly (number | null)[] | null | undefined): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => list?.[i] ?? NaN);
  const due = times(columns.due_ms);
  const sent = times(columns.sent_ms);
  const first = times(columns.first_token_ms);
  const last = times(columns.last_token_ms);
  const done = times(columns.done_ms);
  const end = done.map((value, i) =>
    Number.isNaN(value)
      ? Number.isNaN(last[i] as number)
        ? (sent[i] as number)
        : (last[i] as number)
      : value,
  );
  const ok = (events.outcomes ?? []).indexOf('ok');
  const failed = Uint8Array.from({ length: count }, (_, i) => {
    const outcome = columns.outcome?.[i];
    return outcome != null && ok >= 0 && outcome !== ok ? 1 : 0;
  });
  const [order, starts] = byLane(lane, sent, due, events.lanes);
  const [from, at] = fragmentsOf(events, count);
  const gaps = Array.from(
    { length: count },
    (_, i) => ((last[i] as number) - (first[i] as number)) / ((columns.fragments?.[i] ?? 0) - 1),
  )
    .filter((gap) => Number.isFinite(gap) && gap > 0)
    .sort((x, y) => x - y);
  const usual = gaps[Math.floor(gaps.length / 2)] ?? 0;
  return {
    count,
    lanes: Math.max(1, events.lanes),
    run_ms: events.run_ms,
    lane,
    due,
    sent,
    first,
    end,
    gap: times(columns.gap_ms_max),
    failed,
    order,
    starts,
    from,
    at,
    stall_ms: Math.max(STALL_MS_MIN, STALL_FACTOR * usual),
  };
}

function byLane(
  lane: Int32Array,
  sent: Float64Array,
  due: Float64Array,
  lanes: number,
): [Int32Array, Int32Array] {
  const start = (i: number): number =>
    Number.isNaN(sent[i] as number) ? (due[i] as number) : (sent[i] as number);
  const order = Int32Array.from(lane.keys()).sort(
    (x, y) => (lane[x] as number) - (lane[y] as number) || start(x) - start(y),
  );
  const starts = new Int32Array(Math.max(1, lanes) + 1);
  for (const one of lane)
    if (one + 1 < starts.length) starts[one + 1] = (starts[one + 1] as number) + 1;
  for (let i = 1; i < starts.length; i += 1)
    starts[i] = (starts[i] as number) + (starts[i - 1] as number);
  return [order, starts];
}

function fragmentsOf(events: Events, count: number): [Int32Array, Float64Array] {
  const stream = events.fragments?.stream ?? [];
  const times = events.fragments?.at_ms ?? [];
  const from = new Int32Array(count + 1);
  for (const one of stream) if (one < count) from[one + 1] = (from[one + 1] as number) + 1;
  for (let i = 1; i <= count; i += 1) from[i] = (from[i] as number) + (from[i - 1] as number);
  const next = from.slice();
  const at = new Float64Array(from[count] as number);
  stream.forEach((one, i) => {
    if (one >= count) return;
    at[next[one] as number] = times[i] ?? NaN;
    next[one] = (next[one] as number) + 1;
  });
  for (let i = 0; i < count; i += 1) at.subarray(from[i], from[i + 1]).sort();
  return [from, at];
}

export interface Colours {
  readonly ground: number;
  readonly wait: number;
  readonly prefill: number;
  readonly decode: number;
  readonly tick: number;
  readonly bad: number;
}

export function coloursOf(theme: Theme): Colours {
  const dark = theme.name === 'dark';
  return {
    ground: pixel(theme.ground),
    wait: pixel(dark ? '#59636e' : '#c2c8cf'),
    prefill: pixel(theme.series[1] ?? theme.ink),
    decode: pixel(dark ? '#2b6c94' : '#8cc4e8'),
    tick: pixel(dark ? '#d9f0ff' : '#003a5c'),
    bad: pixel(theme.bad),
  };
}

// '#rrggbb' as a pixel of ImageData on a little-endian machine, which every browser's is.
export function pixel(colour: string): number {
  const value = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

// Fills `pixels` (width × height). Returns how many streams were looked at.
export function raster(
  streams: Streams,
  view: View,
  pixels: Uint32Array,
  width: number,
  height: number,
  colours: Colours,
): number {
  pixels.fill(colours.ground);
  const lanes = Math.max(1, view.to_lane - view.from_lane);
  const scale = width / (view.to_ms - view.from_ms);
  const laneHeight = height / lanes;
  let looked = 0;
  let lastRow = -1;
  for (
    let lane = Math.max(0, Math.floor(view.from_lane));
    lane < view.to_lane && lane < streams.lanes;
    lane += 1
  ) {
    const top = Math.floor((lane - view.from_lane) * laneHeight);
    if (top === lastRow) continue;
    lastRow = top;
    const bottom = Math.max(
      top + 1,
      Math.floor((lane + 1 - view.from_lane) * laneHeight) - (laneHeight >= 4 ? 1 : 0),
    );
    looked += rasterLane(
      streams,
      lane,
      view,
      scale,
      { pixels, width, top: Math.max(0, top), bottom: Math.min(height, bottom) },
      colours,
    );
  }
  return looked;
}

interface Row {
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly top: number;
  readonly bottom: number;
}

function rasterLane(
  streams: Streams,
  lane: number,
  view: View,
  scale: number,
  row: Row,
  colours: Colours,
): number {
  const { order, starts, end, sent, due, first } = streams;
  const stop = starts[lane + 1] as number;
  let looked = 0;
  for (let at = firstEndingAfter(streams, lane, view.from_ms); at < stop; at += 1) {
    const i = order[at] as number;
    const began = Number.isNaN(due[i] as number)
      ? (sent[i] as number)
      : Math.min(due[i] as number, sent[i] as number);
    if (began > view.to_ms) break;
    looked += 1;
    const x = (time: number): number => (time - view.from_ms) * scale;
    const token = first[i] as number;
    if ((sent[i] as number) > began) fill(row, x(began), x(sent[i] as number), colours.wait);
    const failed = streams.failed[i] === 1;
    const prefillEnd = Number.isNaN(token) ? (end[i] as number) : token;
    fill(row, x(sent[i] as number), x(prefillEnd), failed ? colours.bad : colours.prefill);
    if (!Number.isNaN(token)) {
      fill(row, x(token), x(end[i] as number), failed ? colours.bad : colours.decode);
    }
    ticks(streams, i, x, scale, row, colours);
  }
  return looked;
}

// Streams of a lane never overlap, so they end in the order in which they begin.
function firstEndingAfter(streams: Streams, lane: number, time: number): number {
  let low = streams.starts[lane] as number;
  let high = streams.starts[lane + 1] as number;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((streams.end[streams.order[middle] as number] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fill(row: Row, from: number, to: number, colour: number): void {
  const left = Math.max(0, Math.floor(from));
  const right = Math.min(row.width, Math.max(Math.floor(from) + 1, Math.floor(to)));
  for (let y = row.top; y < row.bottom; y += 1) {
    row.pixels.fill(colour, y * row.width + left, y * row.width + Math.max(left, right));
  }
}

function ticks(
  streams: Streams,
  i: number,
  x: (time: number) => number,
  scale: number,
  row: Row,
  colours: Colours,
): void {
  const from = streams.from[i] as number;
  const to = streams.from[i + 1] as number;
  const gap = streams.gap[i] as number;
  if (to - from < 2) {
    if (gap > streams.stall_ms) stallStrip(streams, i, x, row, colours);
    return;
  }
  const span = (streams.at[to - 1] as number) - (streams.at[from] as number);
  if (span * scale < TICK_PIXELS_MIN * (to - from)) {
    if (gap > streams.stall_ms) stallStrip(streams, i, x, row, colours);
    return;
  }
  const inner = { ...row, top: row.top + (row.bottom - row.top > 6 ? 1 : 0) };
  for (let at = from; at < to; at += 1) {
    const left = x(streams.at[at] as number);
    const before = at > from ? (streams.at[at - 1] as number) : Infinity;
    if ((streams.at[at] as number) - before > streams.stall_ms)
      fill(inner, x(before), left, colours.bad);
    if (left >= 0 && left < row.width) fill(inner, left, left + 1, colours.tick);
  }
}

// Somewhere in this stream there was a silence: a strip under it until one zooms to its
// fragments.
function stallStrip(
  streams: Streams,
  i: number,
  x: (time: number) => number,
  row: Row,
  colours: Colours,
): void {
  const top = Math.max(row.top, row.bottom - Math.max(1, Math.floor((row.bottom - row.top) / 4)));
  fill({ ...row, top }, x(streams.first[i] as number), x(streams.end[i] as number), colours.bad);
}

// The stream at a place, or -1.
export function streamAt(streams: Streams, lane: number, time: number): number {
  if (lane < 0 || lane >= streams.lanes) return -1;
  const at = firstEndingAfter(streams, lane, time);
  if (at >= (streams.starts[lane + 1] as number)) return -1;
  const i = streams.order[at] as number;
  const began = Number.isNaN(streams.due[i] as number)
    ? (streams.sent[i] as number)
    : (streams.due[i] as number);
  return began <= time ? i : -1;
}

// Zoom about a time, never out of the run and never under a tenth of a millisecond.
export function zoomed(view: View, about_ms: number, factor: number, run_ms: number): View {
  const span = Math.min(run_ms, Math.max(0.1, (view.to_ms - view.from_ms) * factor));
  const share = (about_ms - view.from_ms) / (view.to_ms - view.from_ms);
  const from = Math.min(Math.max(0, about_ms - share * span), Math.max(0, run_ms - span));
  return { ...view, from_ms: from, to_ms: from + span };
}

export function panned(
  view: View,
  by_ms: number,
  by_lanes: number,
  run_ms: number,
  lanes: number,
): View {
  const span = view.to_ms - view.from_ms;
  const rows = view.to_lane - view.from_lane;
  const from = Math.min(Math.max(0, view.from_ms + by_ms), Math.max(0, run_ms - span));
  const lane = Math.min(Math.max(0, view.from_lane + by_lanes), Math.max(0, lanes - rows));
  return { from_ms: from, to_ms: from + span, from_lane: lane, to_lane: lane + rows };
}
