// Paints a scene on a canvas.

import { type Mark, type Scene, type SymbolsMark, type TextMark, outline } from './scene.ts';

export const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

export function paint(canvas: HTMLCanvasElement, scene: Scene, ratio: number): void {
  const width = Math.round(scene.width * ratio);
  const height = Math.round(scene.height * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = scene.ground;
  context.fillRect(0, 0, scene.width, scene.height);
  for (const mark of scene.marks) draw(context, mark);
}

export function draw(context: CanvasRenderingContext2D, mark: Mark): void {
  context.globalAlpha = 'opacity' in mark ? (mark.opacity ?? 1) : 1;
  switch (mark.kind) {
    case 'path':
      if (mark.xy.length < 4) return;
      context.strokeStyle = mark.stroke;
      context.lineWidth = mark.width;
      context.lineJoin = 'round';
      context.setLineDash(mark.dash === undefined ? [] : [...mark.dash]);
      trace(context, mark.xy);
      context.stroke();
      context.setLineDash([]);
      return;
    case 'area':
      context.fillStyle = mark.fill;
      trace(context, mark.xy);
      context.fill();
      return;
    case 'symbols':
      drawSymbols(context, mark);
      return;
    case 'text':
      drawText(context, mark);
      return;
    case 'rect':
      context.fillStyle = mark.fill;
      context.fillRect(mark.x, mark.y, mark.w, mark.h);
      return;
    case 'clip':
      context.save();
      context.beginPath();
      context.rect(mark.x, mark.y, mark.w, mark.h);
      context.clip();
      for (const inner of mark.marks) draw(context, inner);
      context.restore();
  }
}

function trace(context: CanvasRenderingContext2D, xy: readonly number[]): void {
  context.beginPath();
  for (let i = 0; i + 1 < xy.length; i += 2) {
    const x = xy[i] as number;
    const y = xy[i + 1] as number;
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
}

function drawSymbols(context: CanvasRenderingContext2D, mark: SymbolsMark): void {
  // Dots of the context: small squares look the same and need no path.
  if (mark.size < 2) {
    context.fillStyle = mark.fill;
    for (let i = 0; i + 1 < mark.xy.length; i += 2) {
      const left = (mark.xy[i] as number) - mark.size;
      const top = (mark.xy[i + 1] as number) - mark.size;
      context.fillRect(left, top, 2 * mark.size, 2 * mark.size);
    }
    return;
  }
  const corners = outline(mark.shape, mark.size);
  context.beginPath();
  for (let i = 0; i + 1 < mark.xy.length; i += 2) {
    const x = mark.xy[i] as number;
    const y = mark.xy[i + 1] as number;
    if (corners.length === 0) {
      context.moveTo(x + mark.size, y);
      context.arc(x, y, mark.size, 0, 2 * Math.PI);
      continue;
    }
    for (let c = 0; c + 1 < corners.length; c += 2) {
      const cx = x + (corners[c] as number);
      const cy = y + (corners[c + 1] as number);
      if (c === 0) context.moveTo(cx, cy);
      else context.lineTo(cx, cy);
    }
    context.closePath();
  }
  context.fillStyle = mark.fill;
  context.fill();
  if (mark.stroke !== 'none') {
    context.strokeStyle = mark.stroke;
    context.lineWidth = 1.25;
    context.stroke();
  }
}

function drawText(context: CanvasRenderingContext2D, mark: TextMark): void {
  context.font = `${mark.bold === true ? '600 ' : ''}${mark.size}px ${FONT}`;
  context.textAlign = mark.anchor === 'middle' ? 'center' : mark.anchor;
  context.textBaseline = 'alphabetic';
  context.save();
  context.translate(mark.x, mark.y);
  if (mark.turn === 90) context.rotate(-Math.PI / 2);
  if (mark.halo !== undefined) {
    context.strokeStyle = mark.halo;
    context.lineWidth = 4;
    context.lineJoin = 'round';
    context.strokeText(mark.text, 0, 0);
  }
  context.fillStyle = mark.fill;
  context.fillText(mark.text, 0, 0);
  context.restore();
}
