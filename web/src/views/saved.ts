// The menu of saved views: keeps the address under a name in this browser, and leads back to it.

import { h, replace } from '../base/dom.ts';
import { NAME_MAX, type SavedView, readSaved, withSaved, withoutSaved } from '../state/saved.ts';

const KEY = 'assay-views';

export function makeSaved(said: HTMLElement): HTMLElement {
  const name = h('input', {
    type: 'text',
    id: 'view-name',
    maxlength: NAME_MAX,
    placeholder: 'Name of this view',
    'aria-label': 'Name of this view',
  });
  const list = h('ul', {});
  const keep = (views: readonly SavedView[]): void => {
    try {
      window.localStorage.setItem(KEY, JSON.stringify(views));
    } catch {
      said.textContent = 'This browser keeps nothing for this page: share the address instead.';
    }
    show();
  };
  const box = h(
    'details',
    { class: 'saved' },
    h('summary', {}, 'Saved', h('span', { class: 'wide' }, ' views')),
    h(
      'div',
      { class: 'menu' },
      h(
        'form',
        {
          'aria-label': 'Save this view',
          submit: (event: Event) => {
            event.preventDefault();
            if (name.value.trim() === '') return name.focus();
            keep(withSaved(stored(), name.value, window.location.hash));
            name.value = '';
          },
        },
        name,
        h('button', {}, 'Save'),
      ),
      list,
      h('p', { class: 'hint' }, 'Kept in this browser. Share gives a view to somebody else.'),
    ),
  );
  const leave = (): void => box.removeAttribute('open');
  const forget = (view: SavedView): void => {
    keep(withoutSaved(stored(), view.name));
    name.focus();
  };
  const show = (): void => {
    replace(
      list,
      stored().map((view) =>
        h(
          'li',
          {},
          h('a', { href: view.address, click: leave }, view.name),
          h(
            'button',
            {
              type: 'button',
              class: 'quiet',
              'aria-label': `Forget ${view.name}`,
              click: () => forget(view),
            },
            '×',
          ),
        ),
      ),
    );
  };
  box.addEventListener('toggle', show);
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !box.open) return;
    leave();
    box.querySelector('summary')?.focus();
  });
  return box;
}

function stored(): readonly SavedView[] {
  try {
    return readSaved(window.localStorage.getItem(KEY));
  } catch {
    return [];
  }
}
