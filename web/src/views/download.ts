// Files made in the page and handed to the browser.

import type { Scene } from '../charts/scene.ts';
import { paint } from '../charts/paint_canvas.ts';

export function save(name: string, type: string, content: string | Blob): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.appendChild(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}

export function savePng(name: string, scene: Scene): void {
  const canvas = document.createElement('canvas');
  paint(canvas, scene, 2);
  canvas.toBlob((blob) => {
    if (blob !== null) save(name, 'image/png', blob);
  }, 'image/png');
}

// A file's name out of words from outside: letters, digits and dashes only.
export function fileName(...words: readonly string[]): string {
  return (
    words
      .filter((word) => word !== '')
      .join('-')
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 120) || 'assay'
  );
}
