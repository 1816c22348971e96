// The head of the page: which model, which view, search, share, theme.

import { h, replace } from '../base/dom.ts';
import { whole } from '../base/format.ts';
import { toJson } from '../base/table.ts';
import { DEFAULTS, type Selection, type View } from '../state/selection.ts';
import { pointsTable } from './charts.ts';
import type { Context, Part } from './context.ts';
import { fileName, save } from './download.ts';
import { makeSaved } from './saved.ts';

const TABS: readonly (readonly [View, string])[] = [
  ['explore', 'Explore'],
  ['cost', 'Cost and SLO'],
  ['compare', 'Compare'],
  ['data', 'Data'],
  ['review', 'Review'],
];

export function makeHeader(): Part {
  let context: Context | null = null;
  const set = (patch: Partial<Selection>, how?: 'push' | 'replace'): void =>
    context?.set(patch, how);
  const model = h('select', {
    id: 'model',
    change: () =>
      set({
        ...DEFAULTS,
        model: model.value,
        view: context?.selection.view ?? 'explore',
        theme: context?.selection.theme ?? 'system',
      }),
  });
  const dataset = h('select', { id: 'dataset', change: () => set({ dataset: dataset.value }) });
  const modelBox = labelled('Model', 'pick-model', model);
  const datasetBox = labelled('Dataset', 'pick-dataset', dataset);
  const search = h('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search systems',
    'aria-label': 'Search systems',
    input: () => set({ search: search.value }, 'replace'),
  });
  const theme = h(
    'select',
    {
      id: 'theme',
      'aria-label': 'Theme',
      change: () => set({ theme: theme.value as Selection['theme'] }, 'replace'),
    },
    [
      ['system', 'Auto'],
      ['light', 'Light'],
      ['dark', 'Dark'],
    ].map(([value, text]) => h('option', { value: value ?? '' }, text)),
  );
  const said = h('span', { class: 'said', role: 'status' });
  const tabs = TABS.map(([view, text]) =>
    h(
      'button',
      { type: 'button', class: 'tab', 'data-view': view, click: () => set({ view }) },
      text,
    ),
  );
  const element = h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: '#/explore' }, 'Assay'),
    h('nav', { 'aria-label': 'Views' }, tabs),
    modelBox,
    datasetBox,
    search,
    h(
      'div',
      { class: 'actions' },
      makeSaved(said),
      h('button', { type: 'button', id: 'share', click: () => void share(said) }, 'Share'),
      h('button', { type: 'button', id: 'export', click: () => exportShown(context) }, 'Export'),
      theme,
      said,
    ),
  );
  return {
    element,
    update(now) {
      context = now;
      const { selection } = now;
      fill(
        model,
        now.models.map((one) => [
          one.name,
          `${one.name} (${whole(one.points)} ${one.points === 1 ? 'point' : 'points'})`,
        ]),
        selection.model,
      );
      const sets = [...new Set(now.curves.map((curve) => curve.dataset))].filter(
        (one) => one !== '',
      );
      fill(
        dataset,
        [['', 'all datasets'], ...sets.map((one): [string, string] => [one, one])],
        selection.dataset,
      );
      modelBox.hidden = now.models.length === 0;
      search.hidden = now.models.length === 0;
      // Nothing to choose among: one dataset needs no box.
      datasetBox.hidden = sets.length < 2 && selection.dataset === '';
      if (document.activeElement !== search) search.value = selection.search;
      theme.value = selection.theme;
      for (const tab of tabs) {
        tab.setAttribute('aria-current', tab.dataset['view'] === selection.view ? 'page' : 'false');
      }
    },
  };
}

function labelled(text: string, name: string, control: HTMLElement): HTMLElement {
  return h('label', { class: name }, h('span', { class: 'visually-hidden' }, text), control);
}

function fill(
  select: HTMLSelectElement,
  options: readonly (readonly [string, string])[],
  value: string,
): void {
  const key = JSON.stringify(options);
  if (select.dataset['options'] !== key) {
    select.dataset['options'] = key;
    replace(
      select,
      options.map(([name, text]) => h('option', { value: name }, text)),
    );
  }
  select.value = value;
}

// The whole state is in the address, so sharing is copying it.
async function share(said: HTMLElement): Promise<void> {
  const address = window.location.href;
  try {
    await navigator.clipboard.writeText(address);
    said.textContent = 'Address copied.';
  } catch {
    // No clipboard without a secure context: the address bar has it as well.
    said.textContent = 'The address bar has the address of this view: copy it from there.';
  }
  window.setTimeout(() => {
    said.textContent = '';
  }, 4000);
}

function exportShown(context: Context | null): void {
  if (context === null) return;
  save(
    fileName('assay', context.selection.model) + '.json',
    'application/json',
    toJson(pointsTable(context.series)),
  );
}
