import { describe, expect, it } from 'vitest';
import { random } from '../../journeys/fixture_events.ts';
import { shortened } from './labels.ts';

describe('the name of a curve in a chart', () => {
  const names = [
    '8 x b300-sxm, tensorrt-llm, nvfp4, tp=8',
    '8 x b300-sxm, tensorrt-llm, nvfp4, tp=4',
    '8 x b200-sxm, tensorrt-llm, nvfp4, tp=4',
  ];

  it('keeps the words in which the systems differ', () => {
    expect(names.map((name) => shortened(name, names, 28))).toEqual([
      'b300-sxm tp=8',
      'b300-sxm tp=4',
      'b200-sxm tp=4',
    ]);
    expect(shortened('short', names, 28)).toBe('short');
    expect(shortened(names[0] ?? '', [names[0] ?? ''], 12)).toBe('8 x b300-sx…');
  });

  it('keeps the rarest words, though one name is of another kind', () => {
    const tail = 'tp=1,dp=1,ep=1, 8 workers, KV fp8';
    const mixed = [
      `8 x b300-sxm, tensorrt-llm, ${tail}`,
      `8 x b300-sxm, sglang, ${tail}`,
      `8 x b200-sxm, tensorrt-llm, ${tail}`,
      '4 x H200, vLLM 0.14',
    ];
    expect(mixed.map((name) => shortened(name, mixed, 28))).toEqual([
      'b300-sxm tensorrt-llm tp=1',
      'b300-sxm sglang tp=1 dp=1',
      'b200-sxm tensorrt-llm tp=1',
      '4 x H200, vLLM 0.14',
    ]);
  });

  it('fits, and is no other name wherever its words are none', () => {
    const draw = random(3);
    for (let round = 0; round < 300; round += 1) {
      const word = (): string => 'abcdefgh'.charAt(Math.floor(draw() * 8)).repeat(1 + draw() * 6);
      const some = Array.from({ length: 1 + Math.floor(draw() * 5) }, () =>
        Array.from({ length: 2 + Math.floor(draw() * 8) }, word).join(' '),
      );
      for (const name of some) {
        const text = shortened(name, some, 20);
        expect(text.length).toBeLessThanOrEqual(20);
        const others = some.filter((other) => other !== name);
        if (text.endsWith('…') || text === name) continue;
        // What is left tells it from each of the others.
        for (const other of others) {
          const has = other.split(' ');
          expect(text.split(' ').every((one) => has.includes(one))).toBe(false);
        }
      }
    }
  });
});
