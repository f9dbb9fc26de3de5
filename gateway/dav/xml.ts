/**
 * Reads and writes XML. The reader handles namespaces. It refuses document types, custom entities, and more depth than any request
 * has. The writer escapes.
 */
import { SaxesParser, type SaxesTagNS } from 'saxes';

export const namespaces = {
  D: 'DAV:',
  C: 'urn:ietf:params:xml:ns:caldav',
  CS: 'http://calendarserver.org/ns/',
} as const;
export type Prefix = keyof typeof namespaces;

export interface QualifiedName {
  readonly uri: string;
  readonly local: string;
}

export interface Element extends QualifiedName {
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  /** Its own text, without that of its children. */
  readonly text: string;
}

/** The server cannot give what the program asks for. `element` says why in the error. */
export class RefusedRequest extends Error {
  readonly element: string;
  constructor(element: string) {
    super(element);
    this.element = element;
  }
}

/** The text is not XML that this reader supports. */
export class UnreadableXml extends Error {}

const depthMax = 32;
const elementsMax = 5_000;

interface OpenElement extends Element {
  readonly children: OpenElement[];
  text: string;
}

/** @throws UnreadableXml */
export function readXml(bytes: Uint8Array): Element {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const open: OpenElement[] = [];
  let root: OpenElement | undefined;
  let elements = 0;
  const refuse = (why: string): never => {
    throw new UnreadableXml(why);
  };
  parser.on('error', ({ message }) => refuse(message));
  parser.on('doctype', () => refuse('a document type'));
  parser.on('opentag', (tag) => {
    elements += 1;
    if (open.length >= depthMax || elements > elementsMax) refuse('too deep, or too much');
    const element = elementOf(tag);
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  const addText = (text: string) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => void open.pop());
  parser.write(decoded(bytes)).close();
  return root ?? refuse('nothing in it');
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableXml('no UTF-8');
  }
}

const elementOf = ({ uri, local, attributes }: SaxesTagNS): OpenElement => ({
  uri,
  local,
  children: [],
  text: '',
  attributes: new Map(
    Object.values(attributes)
      .filter((attribute) => attribute.uri === '')
      .map((attribute) => [attribute.local, attribute.value]),
  ),
});

export const isElement = (name: QualifiedName, prefix: Prefix, local: string): boolean =>
  name.uri === namespaces[prefix] && name.local === local;

export const childrenOf = (element: Element, prefix: Prefix, local: string): readonly Element[] =>
  element.children.filter((child) => isElement(child, prefix, local));

export const childOf = (element: Element, prefix: Prefix, local: string): Element | undefined =>
  element.children.find((child) => isElement(child, prefix, local));

// --- writing ----------------------------------------------------------------------------------------------------

export const xmlType = 'application/xml; charset=utf-8';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // A parser turns an unescaped carriage return into a line feed.
  '\r': '&#13;',
};
export const xmlText = (text: string): string =>
  text.replaceAll(/[&<>"\r]/g, (character) => escapes[character] ?? '');

export const xmlBegin = '<?xml version="1.0" encoding="utf-8"?>\n';
/** Names of any namespace as elements. The root of the document declares each namespace once. */
export class Elements {
  readonly #prefixes = new Map<string, string>(
    Object.entries(namespaces).map(([prefix, uri]) => [uri, `${prefix}:`]),
  );

  /** The root declares no default namespace, so a name without a namespace needs no prefix. */
  constructor(names: readonly QualifiedName[]) {
    this.#prefixes.set('', '');
    for (const { uri } of names) {
      if (!this.#prefixes.has(uri)) this.#prefixes.set(uri, `X${this.#prefixes.size}:`);
    }
  }

  /** The namespace declarations for the start tag of the root. */
  get declarations(): string {
    return [...this.#prefixes]
      .filter(([uri]) => uri !== '')
      .map(([uri, prefix]) => ` xmlns:${prefix.slice(0, -1)}="${xmlText(uri)}"`)
      .join('');
  }

  text({ uri, local }: QualifiedName, content = ''): string {
    const tag = `${this.#prefixes.get(uri)}${local}`;
    return content === '' ? `<${tag}/>` : `<${tag}>${content}</${tag}>`;
  }
}

export const { declarations } = new Elements([]);
