// Scales: a value of a domain to a position in pixels, and the round values worth a tick. A time is
// in milliseconds since 1970, UTC.

export type ScaleKind = 'linear' | 'log' | 'time';

export interface Scale {
  readonly kind: ScaleKind;
  readonly low: number;
  readonly high: number;
  at(value: number): number;
  invert(position: number): number;
  ticks(wanted: number): readonly number[];
}

export function makeScale(
  kind: ScaleKind,
  low: number,
  high: number,
  from: number,
  to: number,
): Scale {
  if (kind === 'log') return logScale(low, high, from, to);
  const span = high - low || 1;
  return {
    kind,
    low,
    high,
    at: (value) => from + ((value - low) / span) * (to - from),
    invert: (position) => low + ((position - from) / (to - from)) * span,
    ticks: (wanted) => (kind === 'time' ? timeTicks : linearTicks)(low, high, wanted),
  };
}

function logScale(low: number, high: number, from: number, to: number): Scale {
  const first = Math.log(low);
  const span = Math.log(high) - first || 1;
  return {
    kind: 'log',
    low,
    high,
    at: (value) => from + ((Math.log(Math.max(value, 1e-12)) - first) / span) * (to - from),
    invert: (position) => Math.exp(first + ((position - from) / (to - from)) * span),
    ticks: (wanted) => logTicks(low, high, wanted),
  };
}

export function linearTicks(low: number, high: number, wanted: number): readonly number[] {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
  const out: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12) + step * 1e-9; i += 1) {
    out.push(Number((i * step).toPrecision(12)));
  }
  return out;
}

const MINUTE = 60e3;
export const DAY = 1440 * MINUTE;
const EVEN = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080, 20160].map((one) => one * MINUTE);
const MONTHS = [1, 3, 6, 12, 24, 60, 120];

// Even parts of days, whole weeks, or the first days of months, quarters and years.
export function timeTicks(low: number, high: number, wanted: number): readonly number[] {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const out: number[] = [];
  const even = EVEN.find((step) => step >= rough * 0.999);
  if (even !== undefined) {
    for (let at = Math.ceil(low / even) * even; at <= high; at += even) out.push(at);
    return out;
  }
  const step = MONTHS.find((months) => months * 30.4 * DAY >= rough) ?? 120;
  const first = new Date(low);
  let month = (first.getUTCFullYear() - 1970) * 12 + first.getUTCMonth();
  month = Math.floor(month / step) * step;
  for (let at = Date.UTC(1970, month); at <= high; at = Date.UTC(1970, month)) {
    if (at >= low) out.push(at);
    month += step;
  }
  return out;
}

// Powers of ten, and 2 and 5 between them where there is room.
export function logTicks(low: number, high: number, wanted: number): readonly number[] {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, wanted).filter((tick) => tick > 0);
  const steps = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].find(
    (set) => decades * set.length <= wanted * 1.4,
  ) ?? [1];
  const out: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power += 1) {
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(12));
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) out.push(tick);
    }
  }
  const every = Math.ceil(out.length / Math.max(2, wanted));
  return every > 1 ? out.filter((_, i) => i % every === 0) : out;
}

// The domain of some values with a margin; a log domain holds positive values only.
export function domainOf(
  values: Iterable<number>,
  kind: ScaleKind,
  fromZero: boolean,
): readonly [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || (kind === 'log' && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return kind === 'log' ? [1, 10] : [0, 1];
  if (kind === 'log') {
    const margin = Math.max((high / low) ** 0.04, 1.08);
    return [low / margin, high * margin];
  }
  const margin = (high - (fromZero ? 0 : low) || Math.abs(high) || 1) * 0.05;
  return [fromZero ? Math.min(0, low) : low - margin, high + margin];
}
