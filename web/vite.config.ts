// The page is one classic script and one stylesheet, named without hashes: `assay serve` has an
// ETag for each, `assay export` opens from disk, where modules are refused.

import { defineConfig } from 'vite';
import { writeTypes } from './tools/types.ts';

writeTypes();

export default defineConfig({
  base: './',
  publicDir: 'public',
  server: {
    proxy: {
      '/api': { target: process.env['ASSAY_SERVE'] ?? 'http://127.0.0.1:8080', changeOrigin: true },
    },
  },
  plugins: [
    {
      name: 'classic-script',
      // type=module and crossorigin would keep the page from opening from disk.
      transformIndexHtml: {
        order: 'post',
        handler: (html) =>
          html
            .replace(/<script type="module" crossorigin/g, '<script defer')
            .replace(/<link rel="stylesheet" crossorigin/g, '<link rel="stylesheet"'),
      },
    },
  ],
  build: {
    outDir: 'dist',
    target: 'es2021',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        format: 'iife',
        inlineDynamicImports: true,
        entryFileNames: 'explorer.js',
        assetFileNames: 'explorer[extname]',
      },
    },
  },
  test: { include: ['src/**/*.test.ts', 'tools/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0]);
