// Colours as data: charts are drawn on canvas and exported as SVG, so they can't ask a
// stylesheet.
//
// The series colours are Okabe and Ito's, safe for the common kinds of colour blindness; the dark
// set is the same hues, lighter. Shape and dash repeat what colour says, because colour alone may
// not carry meaning.

export interface Theme {
  readonly name: 'light' | 'dark';
  readonly ground: string;
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly context: string;
  readonly bad: string;
  readonly good: string;
  readonly shade: string;
  readonly series: readonly string[];
}

export const LIGHT: Theme = {
  name: 'light',
  ground: '#ffffff',
  ink: '#1b1f24',
  muted: '#57606a',
  grid: '#e4e7eb',
  context: '#b4bbc4',
  bad: '#b3261e',
  good: '#00704f',
  shade: '#8c959f',
  series: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#3a9bd6', '#6a4c93', '#1b1f24'],
};

export const DARK: Theme = {
  name: 'dark',
  ground: '#14181d',
  ink: '#eceff3',
  muted: '#a2acb8',
  grid: '#2a313a',
  context: '#4d5763',
  bad: '#ff8a80',
  good: '#4cd3a5',
  shade: '#6b7683',
  series: ['#56b4e9', '#f58a42', '#2fd0a0', '#e79bc6', '#f0e442', '#8fd0f5', '#b79ae0', '#eceff3'],
};

export type Shape = 'circle' | 'square' | 'triangle' | 'diamond' | 'cross' | 'down';
export const SHAPES: readonly Shape[] = [
  'circle',
  'square',
  'triangle',
  'diamond',
  'down',
  'cross',
];

// One look a system: the colour repeats after eight, the shape after six, so 24 looks differ.
export function colourOf(theme: Theme, index: number): string {
  return theme.series[index % theme.series.length] ?? theme.ink;
}

export function shapeOf(index: number): Shape {
  return SHAPES[index % SHAPES.length] ?? 'circle';
}
