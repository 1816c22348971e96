import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generate, typeOf } from './types.ts';

describe('types of the contract', () => {
  it('say what may be absent', () => {
    const schema = {
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'string' },
        tps: { type: ['number', 'null'] },
      },
    } as const;
    expect(typeOf(schema)).toBe(
      '{\n  readonly id: string;\n  readonly tps?: number | null | null;\n}',
    );
  });

  it('join the parts of an allOf, each with what the others require', () => {
    const page = {
      type: 'object',
      required: ['items', 'next'],
      properties: { next: { type: 'string' } },
    };
    const list = {
      allOf: [
        { $ref: '#/Page' },
        { properties: { items: { type: 'array', items: { type: 'integer' } } } },
      ],
    };
    expect(typeOf(list, { Page: page })).toBe(
      'Page & {\n  readonly items: readonly (number)[];\n}',
    );
  });

  it('cover every schema of docs/formats/api.yaml', () => {
    const yaml = readFileSync(new URL('../../docs/formats/api.yaml', import.meta.url), 'utf8');
    const types = generate(yaml);
    for (const name of ['Curve', 'Point', 'Run', 'Events', 'CurveList', 'Submission', 'LiveRun']) {
      expect(types).toContain(`export type ${name} = `);
    }
    expect(types).not.toContain('unknown;');
  });
});
