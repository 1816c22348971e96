// A system's line and mark, as the charts draw it: for legends and tables.

import { svg } from '../base/dom.ts';
import { type Theme, colourOf, shapeOf } from '../base/theme.ts';
import { outline } from '../charts/scene.ts';
import type { Series } from '../state/curves.ts';

export function swatch(series: Pick<Series, 'look' | 'curve'>, theme: Theme): SVGElement {
  const colour = series.look < 0 ? theme.context : colourOf(theme, series.look);
  const shape = shapeOf(Math.max(0, series.look));
  const simulated = series.curve.kind === 'simulated';
  const corners = outline(shape, 4.5);
  const mark =
    corners.length === 0
      ? svg('circle', { cx: 14, cy: 8, r: 4.5 })
      : svg('path', {
          d: `${corners
            .map(
              (v, i) =>
                `${i === 0 ? 'M' : i % 2 === 0 ? 'L' : ' '}` + `${v + (i % 2 === 0 ? 14 : 8)}`,
            )
            .join('')}Z`,
        });
  mark.setAttribute('fill', simulated ? theme.ground : colour);
  mark.setAttribute('stroke', colour);
  return svg(
    'svg',
    { class: 'swatch', viewBox: '0 0 28 16', width: 28, height: 16, 'aria-hidden': 'true' },
    svg('line', {
      x1: 0,
      x2: 28,
      y1: 8,
      y2: 8,
      stroke: colour,
      'stroke-width': 2,
      'stroke-dasharray': simulated ? '5 3' : null,
    }),
    mark,
  );
}
