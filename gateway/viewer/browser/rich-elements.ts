/** Puts a rich text into the page. Only names of `rich-text.ts` become elements, and texts become text nodes. */
import type { Rich } from './rich-text.ts';

export function nodeOf(rich: Rich): Node {
  if (typeof rich === 'string') return document.createTextNode(rich);
  const element = document.createElement(rich.name);
  element.append(...rich.children.map(nodeOf));
  if (element instanceof HTMLAnchorElement && rich.href !== undefined) {
    element.setAttribute('href', rich.href);
    element.rel = 'noopener noreferrer nofollow';
    element.target = '_blank';
  }
  if (element instanceof HTMLInputElement) {
    element.type = 'checkbox';
    element.disabled = true;
    element.checked = rich.checked ?? false;
  }
  return element;
}
