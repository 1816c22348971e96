// Numbers as people read them: three significant digits, thousands separated, the unit said.
//
// The only place where a number becomes text for the screen. Absent values are an em dash, never
// 0.

export const ABSENT = '–';

// Three significant digits; whole numbers from 1,000 keep all their digits up to a million.
export function number3(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-4) return value.toExponential(2);
  if (size >= 999.5) return grouped(Math.round(value).toString());
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-12));
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

export function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// 12,345,678 -> 12.3 M: for axes and cards, where width is dear.
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  const size = Math.abs(value);
  for (const [limit, suffix] of [
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
    [1e4, ' k'],
  ] as const) {
    if (size >= limit) return number3(value / (limit === 1e4 ? 1e3 : limit)) + suffix;
  }
  return number3(value);
}

export function whole(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  return grouped(Math.round(value).toString());
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return ABSENT;
  return `${number3(share * 100)} %`;
}

// Score and gate on one scale. A share that is held to a gate in percent is judged in percent.
export function scoreTexts(
  score: number | null | undefined,
  gate: number | null | undefined,
): readonly [string, string] {
  const isShare = score != null && gate != null && score >= 0 && score <= 1 && gate > 1;
  return isShare ? [percent(score), percent(gate / 100)] : [number3(score), number3(gate)];
}

// Numbers of one column: three digits, and as many more as tell unequal neighbours apart.
export function apart(values: readonly number[]): readonly string[] {
  const textOf = (value: number, digits: number): string =>
    digits === 3 ? number3(value) : String(Number(value.toPrecision(digits)));
  return values.map((value, i) => {
    const near = [values[i - 1], values[i + 1]].filter(
      (other): other is number => other !== undefined && other !== value,
    );
    for (let digits = 3; digits < 8; digits += 1) {
      const text = textOf(value, digits);
      if (near.every((other) => textOf(other, digits) !== text)) return text;
    }
    return String(value);
  });
}

export const counted = (count: number, what: string): string =>
  `${whole(count)} ${what}${count === 1 ? '' : 's'}`;

// A duration in the unit that reads best: 312 µs, 41.2 ms, 1.21 s, 14 min.
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined || !Number.isFinite(milliseconds)) {
    return ABSENT;
  }
  const size = Math.abs(milliseconds);
  if (size === 0) return '0 ms';
  if (size < 1e-3) return `${number3(milliseconds * 1e6)} ns`;
  if (size < 1) return `${number3(milliseconds * 1e3)} µs`;
  if (size < 999.5) return `${number3(milliseconds)} ms`;
  if (size < 120e3) return `${number3(milliseconds / 1e3)} s`;
  if (size < 7200e3) return `${number3(milliseconds / 60e3)} min`;
  return `${number3(milliseconds / 3600e3)} h`;
}

export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return ABSENT;
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let at = 0;
  while (value >= 999.5 && at < names.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${number3(value)} ${names[at]}`;
}

export function usd(amount: number | null | undefined): string {
  if (amount === null || amount === undefined || !Number.isFinite(amount)) return ABSENT;
  const size = Math.abs(amount);
  if (size >= 1000) return `$${grouped(amount.toFixed(0))}`;
  if (size >= 1 || size === 0) return `$${amount.toFixed(2)}`;
  return `$${number3(amount)}`;
}

const COMPASS: Readonly<Record<string, string>> = {
  low_latency: 'low latency',
  low_concurrency: 'low concurrency',
  med_concurrency: 'medium concurrency',
  high_concurrency: 'high concurrency',
  margin: 'margin above C_max',
  submitters_choice: "submitter's choice",
};

// A word of the wire as a person says it: med_concurrency -> medium concurrency.
export function words(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return ABSENT;
  return COMPASS[name] ?? name.replaceAll('_', ' ');
}

// Milliseconds since 1970 as a day, with the minute where it is not midnight; UTC.
export function dateText(milliseconds: number): string {
  const at = new Date(milliseconds);
  if (!Number.isFinite(at.getTime())) return ABSENT;
  const text = at.toISOString();
  const day = text.slice(0, 10);
  return text.slice(11, 16) === '00:00' ? day : `${day} ${text.slice(11, 16)}`;
}

// 2026-11-20T19:29:49.019Z -> 2026-11-20 19:29:49Z.
export function instant(text: string | null | undefined): string {
  return text == null || text === '' ? ABSENT : text.replace(/\.\d+/, '').replace('T', ' ');
}
