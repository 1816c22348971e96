// The inputs of a total cost, each with its unit, empty until it is given, and a line that says
// which of them are in the sum.

import { h } from '../base/dom.ts';
import { ENTRIES, summed } from '../state/bill.ts';
import { basesText } from '../state/power.ts';
import { BILL, type BillKey } from '../state/selection.ts';
import type { Context, Part } from './context.ts';

export function makeBill(): Part {
  let context: Context | null = null;
  const change = (key: BillKey, value: number | null): void => {
    if (context === null) return;
    const { [key]: _, ...others } = context.selection.bill;
    context.set({ bill: value === null ? others : { ...others, [key]: value } });
  };
  const inputs = new Map<BillKey, HTMLInputElement>();
  const fields = ENTRIES.map(({ key, text, unit, scale }) => {
    const [low, high] = BILL[key];
    const input: HTMLInputElement = h('input', {
      type: 'number',
      id: `bill-${key}`,
      min: low * scale,
      max: high * scale,
      step: 'any',
      change: () => {
        const value = Number(input.value) / scale;
        if (input.value === '') change(key, null);
        else if (Number.isFinite(value)) change(key, Math.min(high, Math.max(low, value)));
      },
    });
    inputs.set(key, input);
    return h(
      'div',
      { class: 'field' },
      h('label', { for: `bill-${key}` }, text),
      h('span', { class: 'entry' }, input, h('span', { class: 'unit' }, unit)),
    );
  });
  const said = h('p', { class: 'hint', role: 'status' });
  const element = h(
    'details',
    { class: 'bill' },
    h('summary', { id: 'bill-summary' }, 'Total cost over years'),
    h('p', { class: 'hint' }, 'Nothing here has a default: what is empty is not in the sum.'),
    h('div', { class: 'fields' }, fields),
    said,
  );
  return {
    element,
    update(now) {
      context = now;
      const { bill } = now.selection;
      if (Object.keys(bill).length > 0) element.open = true;
      for (const { key, scale } of ENTRIES) {
        const input = inputs.get(key);
        if (input === undefined || document.activeElement === input) continue;
        const value = bill[key];
        input.value = value === undefined ? '' : String(Number((value * scale).toPrecision(9)));
      }
      const bases = bill.usd_per_kwh === undefined ? '' : basesText(now.curves);
      said.textContent =
        summed(bill, now.selection.price > 0) + (bases === '' ? '' : ` Power: ${bases}.`);
    },
  };
}
