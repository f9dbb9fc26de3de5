/**
 * Parses the text of a note from a rich editor (docs/protocol/public-shares.md, "What is shared"): a JSON document of
 * nested nodes. The result becomes elements of the page, so the parser takes nothing over unchecked. Element names
 * and attributes come from the tables below, links have only schemes that run nothing, and everything else is text.
 */

/** A text, or an element of the page with its children. */
export type Rich = string | RichElement;

export interface RichElement {
  readonly name: ElementName;
  readonly children: readonly Rich[];
  /** The target of an `a` element. */
  readonly href?: string;
  /** Whether an `input` element, which is a checkbox, is checked. */
  readonly checked?: boolean;
}

/** Deeper than users write, and far less than a browser's stack allows. */
const depthMax = 64;
const nodesMax = 50_000;

const elementOfType = {
  paragraph: 'p',
  quote: 'blockquote',
  code: 'pre',
  horizontalrule: 'hr',
  linebreak: 'br',
  table: 'table',
  tablerow: 'tr',
  tablecell: 'td',
} as const;

/** The element for each bit of a text's `format`. */
const elementOfFormat = [
  [1, 'strong'],
  [2, 'em'],
  [4, 's'],
  [16, 'code'],
] as const;

/** Titles of notes are `h1` and `h2`. */
const headings = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' } as const;

export type ElementName =
  | (typeof elementOfType)[keyof typeof elementOfType]
  | (typeof elementOfFormat)[number][1]
  | (typeof headings)[keyof typeof headings]
  | ('div' | 'span' | 'ul' | 'ol' | 'li' | 'a' | 'input');

type NodeFields = Readonly<Record<string, unknown>>;

/** Undefined if the text is no such document, or is deeper or longer than users write. The page then shows it unchanged. */
export function richTextOf(text: string): readonly Rich[] | undefined {
  const root = rootOf(text);
  if (root === undefined) return undefined;
  let nodesLeft = nodesMax;

  function childrenOf(fields: NodeFields, depth: number): readonly Rich[] {
    const children = Array.isArray(fields['children']) ? fields['children'] : [];
    nodesLeft -= children.length;
    if (depth >= depthMax || nodesLeft < 0) throw new RangeError('the document is too deep or too long');
    return children.map((child) => richOf(Object(child), depth + 1));
  }

  function richOf(node: NodeFields, depth: number): Rich {
    if (typeof node['text'] === 'string') return formatted(node['text'], node['format']);
    const children = childrenOf(node, depth);
    switch (node['type']) {
      case 'heading':
        return { name: entryOf(headings, node['tag']) ?? 'h6', children };
      case 'list':
        return { name: node['listType'] === 'number' ? 'ol' : 'ul', children };
      case 'listitem':
        return { name: 'li', children: [...checkboxOf(node), ...children] };
      case 'link':
      case 'autolink':
        return linkOf(node['url'], children);
      default:
        return {
          name: entryOf(elementOfType, node['type']) ?? 'div',
          children: orPlaceholder(node, children),
        };
    }
  }

  try {
    return childrenOf(root, 0);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function rootOf(text: string): NodeFields | undefined {
  try {
    const root = Object(Object(JSON.parse(text))['root']);
    return root['type'] === 'root' && Array.isArray(root['children']) ? root : undefined;
  } catch {
    return undefined;
  }
}

const entryOf = <T extends object>(table: T, key: unknown): T[keyof T] | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key as keyof T] : undefined;

function formatted(text: string, format: unknown): Rich {
  const bits = typeof format === 'number' ? format : 0;
  return elementOfFormat.reduce<Rich>(
    (inner, [bit, name]) => ((bits & bit) === 0 ? inner : { name, children: [inner] }),
    text,
  );
}

/** An item of a list of tasks says whether it is done. */
const checkboxOf = ({ checked }: NodeFields): readonly Rich[] =>
  typeof checked === 'boolean' ? [{ name: 'input', children: [], checked }] : [];

const safeSchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

function linkOf(url: unknown, children: readonly Rich[]): RichElement {
  const href = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (href === undefined || !safeSchemes.has(href.protocol)) return { name: 'span', children };
  return { name: 'a', children, href: href.href };
}

/** For example a file or a picture, which the share does not contain. */
function orPlaceholder(node: NodeFields, children: readonly Rich[]): readonly Rich[] {
  const isKnown = entryOf(elementOfType, node['type']) !== undefined || Array.isArray(node['children']);
  return isKnown ? children : ['[This page cannot show this part.]'];
}
