import { describe, expect, it } from 'vitest';
import type { Curve, Point } from '../api/generated.ts';
import { LIGHT } from '../base/theme.ts';
import { bigStore, smallStore } from '../../journeys/fixture.ts';
import { type Series, facetValue, interactivityUnit, makeSeries } from '../state/curves.ts';
import { DEFAULTS } from '../state/selection.ts';
import { curveChart } from './curve_chart.ts';
import { withFootnote, wrapped } from './footnote.ts';
import { groupsOf, multiplesChart, PANELS_MAX, panelGrid } from './multiples_chart.ts';
import { BARS_MAX, offlineChart, offlineHeight, offlineSpots } from './offline_chart.ts';
import type { Mark } from './scene.ts';
import { CROWD } from './series_marks.ts';
import { writeSvg } from './write_svg.ts';

const of = (documents: ReadonlyMap<string, unknown>): readonly Curve[] =>
  (documents.get('curves') as { items: readonly Curve[] }).items;
const small = makeSeries(of(smallStore()), DEFAULTS);
const size = { width: 800, height: 400 };
const options = {
  x: 'log',
  y: 'linear',
  y_title: 'tok/s',
  envelope: false,
  smooth: false,
  slo_tps_per_user: null,
  theme: LIGHT,
} as const;

const flat = (marks: readonly Mark[]): readonly Mark[] =>
  marks.flatMap((mark) => (mark.kind === 'clip' ? flat(mark.marks) : [mark]));

function seriesOf(name: string, points: readonly Partial<Point>[]): Series {
  const full = points.map((point, i) => ({ id: `${name}-${i}`, concurrency: i + 1, ...point }));
  const curve = { id: name, system_name: name, kind: 'measured', model: 'm', points: full };
  const [one] = makeSeries([curve as unknown as Curve], DEFAULTS);
  if (one === undefined) throw new Error('no series');
  return one;
}

describe('Offline bars', () => {
  const two = [
    seriesOf('slow', [
      { system_tps: 50, tps_per_user: 10 },
      { system_tps: 90, tps_per_user: 5, offline: 'elected' },
    ]),
    seriesOf('fast', [{ system_tps: 200, offline: 'dedicated', region: 'offline' }]),
    seriesOf('no Offline', [{ system_tps: 999, tps_per_user: 1 }]),
  ];

  it('are of Offline runs alone, highest first', () => {
    expect(offlineSpots(two).map((spot) => [spot.series.curve.id, spot.value])).toEqual([
      ['fast', 200],
      ['slow', 90],
    ]);
    const { scene, targets } = offlineChart(two, size, { unit: 'tok/s', theme: LIGHT });
    const bars = flat(scene.marks).flatMap((mark) => (mark.kind === 'rect' ? [mark.w] : []));
    expect((bars[1] ?? 0) / (bars[0] ?? 1)).toBeCloseTo(90 / 200, 6);
    expect(targets.map((target) => target.datum.point.id)).toEqual(['fast-0', 'slow-1']);
    expect(writeSvg(scene)).toContain('slow · elected');
    expect(writeSvg(scene)).not.toContain('no Offline');
  });

  it('end at a number that fits, and say so when there are none', () => {
    const many = Array.from({ length: BARS_MAX + 5 }, (_, i) =>
      seriesOf(`s${i}`, [{ system_tps: i + 1, offline: 'dedicated' }]),
    );
    const drawing = offlineChart(many, size, { unit: 'tok/s', theme: LIGHT });
    expect(drawing.targets).toHaveLength(BARS_MAX);
    expect(offlineHeight(BARS_MAX + 5)).toBe(offlineHeight(BARS_MAX));
    const none = offlineChart([], size, { unit: 'tok/s', theme: LIGHT });
    expect(writeSvg(none.scene)).toContain('No Offline run here.');
  });
});

describe('a run at a rate', () => {
  it('is a point that is on no curve', () => {
    const levels = [
      { system_tps: 50, tps_per_user: 40 },
      { system_tps: 80, tps_per_user: 20 },
    ];
    const rate = { system_tps: 70, tps_per_user: 30, rate: 12 };
    const pathsOf = (series: Series): readonly (readonly number[])[] =>
      flat(curveChart([series], size, { ...options, envelope: true }).scene.marks).flatMap(
        (mark) => (mark.kind === 'path' && mark.stroke !== LIGHT.grid ? [mark.xy] : []),
      );
    const without = seriesOf('s', levels);
    const having = seriesOf('s', [...levels, rate]);
    expect(pathsOf(having)).toEqual(pathsOf(without));
    expect(curveChart([having], size, options).targets).toHaveLength(3);
    expect(curveChart([without], size, options).targets).toHaveLength(2);
  });
});

describe('conversations', () => {
  const turn = { system_tps: 50, tps_per_user: 8, interactivity: 'end_to_end' } as const;
  const single = { system_tps: 60, tps_per_user: 9 };

  it('name their interactivity where it is drawn, and are told from single turns', () => {
    const agentic = seriesOf('a', [turn]);
    const plain = seriesOf('b', [single]);
    expect(interactivityUnit([plain])).toBe('tok/s per user');
    expect(interactivityUnit([agentic])).toBe('tok/s per user, end to end');
    const both = curveChart([plain, agentic], size, options).scene;
    expect(writeSvg(both)).toContain('tok/s per user; agentic: end to end (interactivity)');
    expect(facetValue(agentic.curve, 'agentic')).toBe('agentic');
    expect(facetValue(plain.curve, 'agentic')).toBe('single turn');
  });
});

describe('many curves', () => {
  const crowd = makeSeries(of(bigStore(CROWD + 20)), DEFAULTS);

  it('are a density, and one that is pointed at is drawn whole', () => {
    const { scene, targets, trace } = curveChart(crowd, size, options);
    const pale = flat(scene.marks).filter(
      (mark) => mark.kind === 'path' && mark.opacity !== undefined && mark.opacity < 0.2,
    );
    expect(pale.length).toBe(crowd.filter((one) => one.look < 0).length);
    const grey = targets.find((target) => target.datum.series.look < 0);
    if (grey === undefined || trace === undefined) throw new Error('no grey curve');
    const dots = trace(grey.datum).flatMap((mark) => (mark.kind === 'symbols' ? [mark.xy] : []));
    expect(dots[0]).toHaveLength(2 * grey.datum.series.points.length);
  });
});

describe('small multiples', () => {
  it('put each curve in the panel of its value, at the same scale', () => {
    const drawing = multiplesChart(
      small,
      { width: 1100, height: 600 },
      {
        facet: 'accelerator',
        x: 'log',
        y: 'linear',
        x_title: 'x',
        y_title: 'y',
        theme: LIGHT,
      },
    );
    const points = small.reduce((sum, one) => sum + one.points.length, 0);
    expect(drawing.targets).toHaveLength(points);
    for (const { x, y, datum } of drawing.targets) {
      const plot = drawing.plotOf?.(datum);
      if (plot === undefined) throw new Error('no plot');
      expect(x).toBeGreaterThanOrEqual(plot.left - 1);
      expect(x).toBeLessThanOrEqual(plot.left + plot.width + 1);
      expect(y).toBeGreaterThanOrEqual(plot.top - 1);
      expect(y).toBeLessThanOrEqual(plot.top + plot.height + 1);
    }
    expect(groupsOf(small, 'accelerator').map((group) => group.spots.length)).toEqual([
      2, 1, 1, 1, 1,
    ]);
  });

  it('are as many as can be read', () => {
    expect(panelGrid(390, 5)).toEqual({ columns: 1, rows: 5 });
    expect(panelGrid(1200, 5)).toEqual({ columns: 4, rows: 2 });
    const many = Array.from({ length: PANELS_MAX + 3 }, (_, i) => {
      const one = seriesOf(`s${i}`, [{ system_tps: 5, tps_per_user: 5 }]);
      return { ...one, curve: { ...one.curve, software: `v${i}` } };
    });
    const drawing = multiplesChart(many, size, {
      facet: 'software',
      x: 'log',
      y: 'linear',
      x_title: 'x',
      y_title: 'y',
      theme: LIGHT,
    });
    expect(drawing.targets).toHaveLength(PANELS_MAX);
  });
});

describe('a footnote', () => {
  it('stands under the picture, whole, in lines that fit', () => {
    const scene = curveChart(small, size, options).scene;
    const note = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
    const framed = withFootnote(scene, 'The <title>', [note], LIGHT);
    expect(framed.height).toBeGreaterThan(scene.height + 30);
    const said = flat(framed.marks).flatMap((mark) =>
      mark.kind === 'text' && mark.y > scene.height + 30 ? [mark.text] : [],
    );
    expect(said.join(' ')).toBe(note);
    expect(writeSvg(framed)).toContain('The &lt;title&gt;');
    for (const line of wrapped(note, 300)) expect(line.length).toBeLessThanOrEqual(50);
  });
});
