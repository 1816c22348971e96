import { describe, expect, it } from 'vitest';
import { SAVED_MAX, readSaved, withSaved, withoutSaved } from './saved.ts';

describe('saved views', () => {
  it('come back as they were kept, the latest first', () => {
    const one = withSaved([], ' large systems ', '#/explore?model=m&concurrency_min=100');
    const two = withSaved(one, 'cost', '#/cost?model=m');
    expect(two.map((view) => view.name)).toEqual(['cost', 'large systems']);
    expect(readSaved(JSON.stringify(two))).toEqual(two);
  });

  it('are changed by their name, and forgotten by it', () => {
    const list = withSaved(withSaved([], 'a', '#/cost'), 'b', '#/compare');
    const changed = withSaved(list, 'a', '#/explore?model=m');
    expect(changed).toEqual([
      { name: 'a', address: '#/explore?model=m' },
      { name: 'b', address: '#/compare' },
    ]);
    expect(withoutSaved(changed, 'a').map((view) => view.name)).toEqual(['b']);
    expect(withSaved(list, '  ', '#/cost')).toBe(list);
  });

  it('lead to this page alone, whatever stands in the storage', () => {
    const told = [
      { name: 'x', address: 'javascript:alert(1)' },
      { name: 'y', address: 'https://elsewhere.example/#/cost' },
      { name: 3, address: '#/cost' },
      null,
      'text',
    ];
    for (const view of readSaved(JSON.stringify(told))) expect(view.address).toMatch(/^#\/explore/);
    for (const broken of [null, '', '{', '{}', '7', 'null']) expect(readSaved(broken)).toEqual([]);
    const many = Array.from({ length: 500 }, (_, i) => ({ name: `v${i}`, address: '#/cost' }));
    expect(readSaved(JSON.stringify(many)).length).toBe(SAVED_MAX);
  });
});
