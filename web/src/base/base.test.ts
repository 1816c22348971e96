import { describe, expect, it } from 'vitest';
import { safeHref } from './dom.ts';
import {
  ABSENT,
  apart,
  bytes,
  counted,
  duration,
  number3,
  percent,
  scoreTexts,
  short,
  usd,
} from './format.ts';
import { toCsv, toJson } from './table.ts';
import { DARK, LIGHT } from './theme.ts';

describe('numbers', () => {
  it('have more digits where three hide that neighbours differ', () => {
    expect(apart([100, 136.44, 175])).toEqual(['100', '136', '175']);
    expect(apart([332.503, 332.794, 333.115, 445, 445])).toEqual([
      '332.5',
      '332.8',
      '333.1',
      '445',
      '445',
    ]);
    expect(apart([])).toEqual([]);
  });

  it('of a score and its gate are on one scale, as the rules judge them', () => {
    expect(scoreTexts(1, 82.2987)).toEqual(['100 %', '82.3 %']);
    expect(scoreTexts(0.75, 0.7)).toEqual(['0.75', '0.7']);
    expect(scoreTexts(83.1, 82.2987)).toEqual(['83.1', '82.3']);
    expect(scoreTexts(0.5, null)).toEqual(['0.5', ABSENT]);
    expect([counted(1, 'error'), counted(1200, 'error')]).toEqual(['1 error', '1,200 errors']);
  });

  it('have three significant digits, and their thousands apart', () => {
    const cases: [number, string][] = [
      [0, '0'],
      [1, '1'],
      [0.00981, '0.00981'],
      [9.814, '9.81'],
      [41.25, '41.3'],
      [99.96, '100'],
      [999.4, '999'],
      [999.6, '1,000'],
      [1234.4, '1,234'],
      [9932.1, '9,932'],
      [1234567, '1,234,567'],
      [-41.25, '-41.3'],
      [0.00001234, '1.23e-5'],
    ];
    for (const [value, text] of cases) expect(number3(value), String(value)).toBe(text);
  });

  it('are a dash where nobody knows them, never 0', () => {
    for (const text of [number3, short, duration, percent, bytes, usd]) {
      expect(text(null)).toBe(ABSENT);
      expect(text(undefined)).toBe(ABSENT);
      expect(text(NaN)).toBe(ABSENT);
    }
  });

  it('choose the unit that reads best', () => {
    expect(duration(0.031)).toBe('31 µs');
    expect(duration(9.81)).toBe('9.81 ms');
    expect(duration(1210)).toBe('1.21 s');
    expect(duration(1240000)).toBe('20.7 min');
    expect(short(52300)).toBe('52.3 k');
    expect(short(9932)).toBe('9,932');
    expect(bytes(39910211)).toBe('39.9 MB');
    expect(usd(19.04)).toBe('$19.04');
    expect(usd(0.1904)).toBe('$0.19');
    expect(percent(0.62)).toBe('62 %');
  });
});

describe('tables', () => {
  const table = {
    columns: ['a', 'b'],
    rows: [
      ['x,"y"\n', 1.5],
      [null, '=SUM(A1)'],
    ],
  } as const;
  it('are quoted as RFC 4180 has it, and give a spreadsheet no formula', () => {
    expect(toCsv(table)).toBe('a,b\r\n"x,""y""\n",1.5\r\n,\'=SUM(A1)\r\n');
  });
  it('are rows of objects in JSON', () => {
    expect(JSON.parse(toJson(table))).toEqual([
      { a: 'x,"y"\n', b: 1.5 },
      { a: null, b: '=SUM(A1)' },
    ]);
  });
});

describe('links', () => {
  it('lead to the web or to this page only', () => {
    for (const bad of ['javascript:alert(1)', ' javascript:x', 'data:text/html,x', 'vbscript:x']) {
      expect(safeHref(bad), bad).toBeNull();
    }
    expect(safeHref('https://example.org/a')).toBe('https://example.org/a');
  });
});

// WCAG 2: text 4.5 : 1, graphics 3 : 1.
function contrast(x: string, y: string): number {
  const light = (colour: string): number => {
    const value = parseInt(colour.slice(1), 16);
    const [r = 0, g = 0, b = 0] = [value >> 16, (value >> 8) & 255, value & 255].map((channel) => {
      const s = channel / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [light(x), light(y)].sort((p, q) => p - q) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

describe('colours', () => {
  for (const theme of [LIGHT, DARK]) {
    it(`of the ${theme.name} theme stand out`, () => {
      for (const colour of theme.series) {
        expect(contrast(colour, theme.ground), colour).toBeGreaterThanOrEqual(3);
      }
      for (const colour of [theme.ink, theme.muted, theme.bad, theme.good]) {
        expect(contrast(colour, theme.ground), colour).toBeGreaterThanOrEqual(4.5);
      }
    });
  }
});
