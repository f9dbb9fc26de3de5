/**
 * The headers that every reply has, and their replacements: an area's, a route's, a reply's own, each winning over
 * the one before. They are lines of text made once, because building headers costs time on every reply.
 */
export type HeaderValues = Readonly<Record<string, string>>;

interface Line {
  readonly key: string;
  readonly text: string;
}

export class BaseHeaders {
  readonly #lines: readonly Line[];
  /** All of them, each preceded by a line break. */
  readonly text: string;

  constructor(lines: readonly Line[] = []) {
    this.#lines = lines;
    this.text = textOf(lines);
  }

  /** These, except where `headers` say otherwise. An empty value leaves the header out. */
  with(headers: HeaderValues | undefined): BaseHeaders {
    if (headers === undefined) return this;
    const keys = keysOf(headers);
    const added = Object.entries(headers).filter(([, value]) => value !== '');
    return new BaseHeaders([
      ...this.#lines.filter(({ key }) => !keys.has(key)),
      ...added.map(([name, value]) => ({ key: name.toLowerCase(), text: headerLine(name, value) })),
    ]);
  }

  /** The text of `with(headers)`, cheap in the usual case that nothing is replaced. */
  textWith(headers: HeaderValues): string {
    const keys = keysOf(headers);
    const replaces = this.#lines.some(({ key }) => keys.has(key));
    let text = replaces ? textOf(this.#lines.filter(({ key }) => !keys.has(key))) : this.text;
    for (const name in headers) if (headers[name] !== '') text += headerLine(name, headers[name] ?? '');
    return text;
  }
}

const textOf = (lines: readonly Line[]) => lines.map(({ text }) => text).join('');

const keysOf = (headers: HeaderValues) => new Set(Object.keys(headers).map((name) => name.toLowerCase()));

function headerLine(name: string, value: string): string {
  const line = `${name}: ${value}`;
  requireOneLine(line);
  return `\r\n${line}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const severalLines = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** @throws TypeError for a header whose text would span more than one line of the head. */
export function requireOneLine(text: string): void {
  if (severalLines.test(text)) throw new TypeError('a header value of a reply holds a control character');
}

export const standardHeaders = new BaseHeaders().with({
  'Cache-Control': 'no-store',
  Vary: 'Origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
});
