import { describe, expect, it } from 'vitest';
import type { Curve } from '../api/generated.ts';
import { LIGHT } from '../base/theme.ts';
import { eventsOf, random } from '../../journeys/fixture_events.ts';
import { bigStore, smallStore } from '../../journeys/fixture.ts';
import { type Series, makeSeries } from '../state/curves.ts';
import { DEFAULTS } from '../state/selection.ts';
import { concurrencyChart } from './concurrency_chart.ts';
import { type CurveOptions, curveChart } from './curve_chart.ts';
import { domainOf, linearTicks, logTicks, makeScale } from './scale.ts';
import {
  type View,
  coloursOf,
  makeStreams,
  panned,
  pixel,
  raster,
  streamAt,
  zoomed,
} from './waterfall.ts';
import { FIGURES, figureOf } from '../state/figures.ts';
import { figureChart } from './figure_chart.ts';
import { NO_WINDOW, centreOf, isInside, isWindow, pannedWindow, zoomedWindow } from './window.ts';
import { writeSvg } from './write_svg.ts';

const of = (documents: ReadonlyMap<string, unknown>): readonly Curve[] =>
  (documents.get('curves') as { items: readonly Curve[] }).items;
const small = makeSeries(of(smallStore()), DEFAULTS);
const size = { width: 800, height: 400 };
const options: CurveOptions = {
  x: 'log',
  y: 'linear',
  y_title: 'tok/s',
  envelope: false,
  smooth: false,
  slo_tps_per_user: null,
  theme: LIGHT,
};

describe('scales', () => {
  it('give back what they placed', () => {
    for (const kind of ['linear', 'log'] as const) {
      const scale = makeScale(kind, 2, 4000, 50, 750);
      for (const value of [2, 3, 77, 4000])
        expect(scale.invert(scale.at(value))).toBeCloseTo(value, 8);
    }
  });

  it('have round ticks within the domain, ascending', () => {
    const draw = random(3);
    for (let i = 0; i < 300; i += 1) {
      const low = 10 ** (draw() * 8 - 4);
      const high = low * (1.01 + draw() * 10 ** (draw() * 6));
      for (const ticks of [linearTicks(low, high, 6), logTicks(low, high, 6)]) {
        expect(ticks.length).toBeLessThan(20);
        ticks.forEach((tick, at) => {
          expect(tick).toBeGreaterThanOrEqual(low * (1 - 1e-9));
          expect(tick).toBeLessThanOrEqual(high * (1 + 1e-6));
          if (at > 0) expect(tick).toBeGreaterThan(ticks[at - 1] as number);
        });
      }
    }
  });

  it('leave out of a log domain what has no logarithm', () => {
    const [low, high] = domainOf([0, -3, NaN, 5, 50], 'log', false);
    expect(low).toBeGreaterThan(0);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(50);
  });
});

describe('the large chart', () => {
  it('is a staircase: no line of it slopes', () => {
    const { scene } = curveChart(small, size, options);
    const paths = scene.marks
      .flatMap((mark) => (mark.kind === 'clip' ? mark.marks : []))
      .flatMap((mark) => (mark.kind === 'path' ? [mark.xy] : []));
    expect(paths.length).toBeGreaterThanOrEqual(small.length);
    for (const xy of paths) {
      for (let i = 2; i + 1 < xy.length; i += 2) {
        expect(xy[i] === xy[i - 2] || xy[i + 1] === xy[i - 1]).toBe(true);
      }
    }
  });

  it('has a target for each point, the dedicated Offline apart', () => {
    const points = small.reduce((sum, one) => sum + one.points.length, 0);
    const drawing = curveChart(small, size, options);
    expect(drawing.targets).toHaveLength(points);
    expect(drawing.targets.some((target) => target.datum.point.offline === 'dedicated')).toBe(
      false,
    );
    expect(writeSvg(drawing.scene)).toContain('Offline: throughput ceiling');
  });

  it('says simulated by dashes', () => {
    const simulated = small.filter((one) => one.curve.kind === 'simulated');
    const measured = small.filter((one) => one.curve.kind === 'measured');
    expect(writeSvg(curveChart(simulated, size, options).scene)).toContain(
      'stroke-dasharray="7 4"',
    );
    expect(writeSvg(curveChart(measured, size, options).scene)).not.toContain(
      'stroke-dasharray="7 4"',
    );
  });

  it('says why it is empty', () => {
    const text = (some: readonly Series[]): string =>
      writeSvg(curveChart(some, size, options).scene);
    expect(text([])).toContain('No point passes the filters.');
    const blind = small.map((one) => ({
      ...one,
      points: one.points.map((point) => ({ ...point, tps_per_user: null })),
    }));
    expect(text(blind)).toContain('No point here has an interactivity.');
    const offline = small.map((one) => ({ ...one, points: [], values: [] }));
    expect(text(offline)).toContain('Only Offline runs here');
  });

  it('keeps what a stranger wrote as text', () => {
    const evil = small.map((one) => ({
      ...one,
      title: '<script>"&',
    }));
    const text = writeSvg(curveChart(evil, size, options).scene);
    expect(text).not.toContain('<script>');
    expect(text).toContain('&lt;script&gt;&quot;&amp;');
  });

  it('is the same picture for the same data', async () => {
    const draw = (): string =>
      writeSvg(curveChart(small, size, { ...options, envelope: true }).scene);
    expect(draw()).toBe(draw());
    await expect(
      writeSvg(curveChart(small.slice(0, 2), { width: 420, height: 260 }, options).scene),
    ).toMatchFileSnapshot('../../tests/snapshots/curve_chart.svg');
  });

  it('says so when there is nothing', () => {
    expect(writeSvg(curveChart([], size, options).scene)).toContain('No point passes the filters.');
  });

  it('holds ten thousand points', () => {
    const series = makeSeries(of(bigStore()), { ...DEFAULTS });
    expect(curveChart(series, size, options).targets).toHaveLength(10000);
    expect(
      concurrencyChart(series, size, {
        title: 'TTFT',
        y_title: 'TTFT',
        y: 'log',
        limit: null,
        figure: (point) => point.ttft_ms_p90 ?? null,
        theme: LIGHT,
      }).targets,
    ).toHaveLength(10000);
  });
});

describe('the waterfall', () => {
  const streams = makeStreams(eventsOf(8, 20, 30, 11));
  const whole: View = { from_ms: 0, to_ms: streams.run_ms, from_lane: 0, to_lane: 8 };
  const colours = coloursOf(LIGHT);

  it('finds the stream under the pointer, as looking at each would', () => {
    const draw = random(5);
    for (let i = 0; i < 2000; i += 1) {
      const lane = Math.floor(draw() * 8);
      const time = draw() * streams.run_ms;
      const slow =
        [...streams.lane.keys()].find(
          (at) =>
            streams.lane[at] === lane &&
            (streams.due[at] as number) <= time &&
            time <= (streams.end[at] as number),
        ) ?? -1;
      expect(streamAt(streams, lane, time)).toBe(slow);
    }
  });

  it('paints each lane where it is, and ground where nothing was going on', () => {
    const [width, height] = [400, 80];
    const pixels = new Uint32Array(width * height);
    expect(raster(streams, whole, pixels, width, height, colours)).toBe(160);
    for (let lane = 0; lane < 8; lane += 1) {
      for (let x = 0; x < width; x += 7) {
        const here = pixels[(lane * 10 + 4) * width + x];
        // A pixel that one stream covers from edge to edge.
        const edges = [x, x + 1].map((edge) =>
          streamAt(streams, lane, (edge / width) * streams.run_ms),
        );
        if ((edges[0] as number) < 0 || edges[0] !== edges[1]) continue;
        expect(here, `lane ${lane} x ${x}`).not.toBe(colours.ground);
      }
      // The gap between two lanes.
      expect(pixels[(lane * 10 + 9) * width + 50]).toBe(colours.ground);
    }
  });

  it('shows single tokens once they are apart', () => {
    const i = streams.order[streams.starts[3] as number] as number;
    const from = streams.first[i] as number;
    const pixels = new Uint32Array(600 * 10);
    raster(
      streams,
      { from_ms: from, to_ms: from + 100, from_lane: 3, to_lane: 4 },
      pixels,
      600,
      10,
      colours,
    );
    const row = [...pixels.subarray(5 * 600, 6 * 600)];
    const ticks = row.filter((one) => one === colours.tick).length;
    const expected = [...streams.at.subarray(streams.from[i], streams.from[i + 1])].filter(
      (at) => at >= from && at < from + 100,
    ).length;
    expect(ticks).toBe(expected);
  });

  it('looks only at what is in view', () => {
    const pixels = new Uint32Array(100 * 8);
    const looked = raster(
      streams,
      { ...whole, to_ms: streams.run_ms / 20 },
      pixels,
      100,
      8,
      colours,
    );
    expect(looked).toBeLessThan(40);
  });

  it('never leaves the run by zooming and moving', () => {
    const draw = random(9);
    let view = whole;
    for (let i = 0; i < 500; i += 1) {
      view =
        draw() < 0.5
          ? zoomed(
              view,
              view.from_ms + draw() * (view.to_ms - view.from_ms),
              0.2 + draw() * 3,
              streams.run_ms,
            )
          : panned(view, (draw() - 0.5) * streams.run_ms, (draw() - 0.5) * 9, streams.run_ms, 8);
      expect(view.from_ms).toBeGreaterThanOrEqual(0);
      expect(view.to_ms).toBeLessThanOrEqual(streams.run_ms + 1e-6);
      expect(view.to_ms).toBeGreaterThan(view.from_ms);
    }
  });

  it('writes a colour as the pixel of that colour', () => {
    expect(pixel('#102030')).toBe(0xff302010);
  });
});

describe('any figure against any other', () => {
  const drawn = (x: string, y: string, window = NO_WINDOW): ReturnType<typeof figureChart> =>
    figureChart(small, size, {
      x: figureOf(x, x),
      y: figureOf(y, y),
      x_kind: 'log',
      y_kind: 'linear',
      selection: DEFAULTS,
      window,
      theme: LIGHT,
    });

  it('draws every pair of figures, inside of the plot', () => {
    for (const x of FIGURES) {
      for (const y of FIGURES) {
        const { frame, targets } = drawn(x.id, y.id);
        for (const target of targets) {
          expect(Number.isFinite(target.x + target.y), `${x.id} ${y.id}`).toBe(true);
          expect(isInside(frame, target), `${x.id} ${y.id}`).toBe(true);
        }
      }
    }
  });

  it('places a point at its two figures', () => {
    const { frame, targets } = drawn('ttft_ms_p90', 'tps_per_user');
    expect(targets.length).toBeGreaterThan(10);
    for (const { x, y, datum } of targets) {
      expect(frame.x.invert(x)).toBeCloseTo(datum.point.ttft_ms_p90 as number, 6);
      expect(frame.y.invert(y)).toBeCloseTo(datum.point.tps_per_user as number, 6);
    }
  });

  it('marks the better corner, and says where no point has both', () => {
    const words = (x: string, y: string): string => JSON.stringify(drawn(x, y).scene.marks);
    expect(words('ttft_ms_p90', 'system_tps')).toContain('"better"');
    expect(words('concurrency', 'system_tps')).not.toContain('"better"');
    expect(words('usd_per_mtok', 'system_tps')).toContain('No point shown has both figures.');
  });
});

describe('the part of a chart that is looked at', () => {
  const whole = curveChart(small, size, options);

  it('keeps what lies under the pointer where it is', () => {
    const at = { x: 300, y: 150 };
    const window = zoomedWindow(whole.frame, at, 0.5);
    expect(isWindow(window)).toBe(true);
    const near = curveChart(small, size, { ...options, window });
    // The plot begins where its longest tick ends, so that positions move a little.
    expect(near.frame.x.invert(at.x) / whole.frame.x.invert(at.x)).toBeCloseTo(1, 1);
    expect(near.frame.y.invert(at.y) / whole.frame.y.invert(at.y)).toBeCloseTo(1, 1);
    expect(near.targets.length).toBeLessThan(whole.targets.length);
    for (const target of near.targets) expect(isInside(near.frame, target)).toBe(true);
  });

  it('moves by as much as the pointer did, and never below 0', () => {
    const { x_from, x_to, y_from } = pannedWindow(whole.frame, 100, -1e6);
    expect(x_from).toBeCloseTo(whole.frame.x.invert(whole.frame.plot.left - 100), 3);
    expect(x_to).toBeLessThan(whole.frame.x.high);
    expect(y_from).toBe(0);
    const { x, y } = centreOf(whole.frame);
    expect(isInside(whole.frame, { x, y })).toBe(true);
  });

  it('is all of it without a range', () => {
    expect(isWindow(NO_WINDOW)).toBe(false);
    const same = curveChart(small, size, { ...options, window: NO_WINDOW });
    expect(JSON.stringify(same.scene)).toBe(JSON.stringify(whole.scene));
  });
});
