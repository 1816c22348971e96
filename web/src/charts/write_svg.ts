// Writes a scene as the text of one <svg>: for downloads and for tests, which compare it.
//
// At most one decimal, no ids, no clock: the same scene gives the same bytes.

import { FONT } from './paint_canvas.ts';
import { type Mark, type Scene, type SymbolsMark, outline } from './scene.ts';

export function writeSvg(scene: Scene): string {
  const size = `width="${r(scene.width)}" height="${r(scene.height)}"`;
  const box = `viewBox="0 0 ${r(scene.width)} ${r(scene.height)}"`;
  let clips = 0;
  const defs: string[] = [];
  const write = (mark: Mark): string => {
    if (mark.kind !== 'clip') return writeMark(mark);
    clips += 1;
    const name = `clip${clips}`;
    defs.push(
      `<clipPath id="${name}"><rect x="${r(mark.x)}" y="${r(mark.y)}" ` +
        `width="${r(mark.w)}" height="${r(mark.h)}"/></clipPath>`,
    );
    return `<g clip-path="url(#${name})">\n${mark.marks.map(write).join('\n')}\n</g>`;
  };
  const body = scene.marks.map(write).join('\n');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${box} role="img" ` +
    `font-family="${escape(FONT)}">\n<title>${escape(scene.label)}</title>\n` +
    (defs.length > 0 ? `<defs>${defs.join('')}</defs>\n` : '') +
    `<rect width="100%" height="100%" fill="${scene.ground}"/>\n${body}\n</svg>\n`
  );
}

function writeMark(mark: Exclude<Mark, { kind: 'clip' }>): string {
  const fade =
    'opacity' in mark && mark.opacity !== undefined && mark.opacity !== 1
      ? ` opacity="${r2(mark.opacity)}"`
      : '';
  switch (mark.kind) {
    case 'path': {
      const dash = mark.dash === undefined ? '' : ` stroke-dasharray="${mark.dash.join(' ')}"`;
      return (
        `<path d="${line(mark.xy)}" fill="none" stroke="${mark.stroke}" ` +
        `stroke-width="${r2(mark.width)}" stroke-linejoin="round"${dash}${fade}/>`
      );
    }
    case 'area':
      return `<path d="${line(mark.xy)}Z" fill="${mark.fill}"${fade}/>`;
    case 'symbols':
      return writeSymbols(mark, fade);
    case 'rect':
      return (
        `<rect x="${r(mark.x)}" y="${r(mark.y)}" width="${r(mark.w)}" ` +
        `height="${r(mark.h)}" fill="${mark.fill}"${fade}/>`
      );
    case 'text': {
      const turn = mark.turn === 90 ? ` transform="rotate(-90 ${r(mark.x)} ${r(mark.y)})"` : '';
      const bold = mark.bold === true ? ' font-weight="600"' : '';
      const halo =
        mark.halo === undefined
          ? ''
          : ` stroke="${mark.halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`;
      return (
        `<text x="${r(mark.x)}" y="${r(mark.y)}" font-size="${mark.size}" ` +
        `text-anchor="${mark.anchor}" fill="${mark.fill}"${bold}${halo}${turn}>` +
        `${escape(mark.text)}</text>`
      );
    }
  }
}

function writeSymbols(mark: SymbolsMark, fade: string): string {
  const corners = outline(mark.shape, mark.size);
  const stroke = mark.stroke === 'none' ? '' : ` stroke="${mark.stroke}" stroke-width="1.25"`;
  const out: string[] = [];
  for (let i = 0; i + 1 < mark.xy.length; i += 2) {
    const x = mark.xy[i] as number;
    const y = mark.xy[i + 1] as number;
    if (corners.length === 0) {
      out.push(
        `M${r(x - mark.size)} ${r(y)}a${r(mark.size)} ${r(mark.size)} 0 1 0 ` +
          `${r(2 * mark.size)} 0a${r(mark.size)} ${r(mark.size)} 0 1 0 ${r(-2 * mark.size)} 0`,
      );
    } else {
      out.push(`${line(corners.map((v, at) => v + (at % 2 === 0 ? x : y)))}Z`);
    }
  }
  return `<path d="${out.join('')}" fill="${mark.fill}"${stroke}${fade}/>`;
}

function line(xy: readonly number[]): string {
  let out = '';
  for (let i = 0; i + 1 < xy.length; i += 2) {
    out += `${i === 0 ? 'M' : 'L'}${r(xy[i] as number)} ${r(xy[i + 1] as number)}`;
  }
  return out;
}

const r = (value: number): string => String(Math.round(value * 10) / 10 + 0);
const r2 = (value: number): string => String(Math.round(value * 100) / 100 + 0);

export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
