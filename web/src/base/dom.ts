// Elements without a framework: h('a', {href}, 'text'). Text is always text, never markup, so
// what a stranger wrote into a name or a message can't become an element. No inline styles and no
// on-attributes: the page's content security policy forbids both.

type Child = Node | string | number | null | undefined | false;
export type Children = readonly (Child | readonly Child[])[];

export interface Attributes {
  readonly [name: string]: string | number | boolean | null | undefined | ((event: never) => void);
}

const SVG = 'http://www.w3.org/2000/svg';

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Children
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Children): SVGElement {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

function apply(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') {
      element.addEventListener(name, value as unknown as EventListener);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

export function append(element: Node, children: Children): void {
  for (const child of children.flat() as Child[]) {
    if (child === null || child === undefined || child === false) continue;
    element.appendChild(typeof child === 'object' ? child : document.createTextNode(String(child)));
  }
}

export function replace(element: Element, ...children: Children): void {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  element.replaceChildren(fragment);
}

// A link is followed only where it leads to the web or to this page: never javascript:, never
// data:.
export function safeHref(address: string): string | null {
  return /^(https?:\/\/|#|\.{0,2}\/)/i.test(address) ? address : null;
}
