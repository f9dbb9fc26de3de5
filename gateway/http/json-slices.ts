/**
 * `JSON.parse` for large bodies, a slice at a time, so that no body holds the event loop.
 *
 * The text is an object at the top, and what makes it large are its arrays (a sync's `items`). A scanner that
 * knows strings and nesting walks the bytes and finds where the members of the object, and the elements of arrays
 * directly below it, end. Everything between two such ends is handed to `JSON.parse`; the scanner itself never
 * judges what is valid. Two facts make the result equal to `JSON.parse` of the whole:
 * - On valid JSON the scanner's ends are the real ones, as a comma or bracket outside strings is structure.
 * - What is accepted is `{`, members of a parsed key, a colon and a parsed value, commas between them, `}`; every
 *   piece was accepted by `JSON.parse`, so the whole is valid JSON.
 *
 * Between slices the caller's `yieldToLoop` is awaited. Memory: the bytes and the result, and one slice's text.
 * One element is one slice, however large. Its time is bounded by `elementStructureBytesMax`: a long string is
 * cheap to parse, much structure is not.
 */

import { isUtf8 } from 'node:buffer';

export interface SliceLimits {
  /** A slice ends with the first element that ends after this many bytes. */
  readonly sliceBytes: number;
  readonly depthMax: number;
  /** Bytes outside strings of a single element or member. */
  readonly elementStructureBytesMax: number;
  /** Members of the object at the top. */
  readonly membersMax: number;
}

export const defaultSliceLimits: SliceLimits = {
  sliceBytes: 256 * 1024,
  depthMax: 64,
  elementStructureBytesMax: 1024 * 1024,
  membersMax: 1_024,
};

/** The text is JSON perhaps, but nests deeper or holds more structure in one place than the limits allow. */
export class JsonTooComplexError extends Error {}
/** Some piece of the text is not UTF-8. */
export class JsonNotUtf8Error extends Error {}

/**
 * Parses `bytes`. Pieces begin and end beside structure, never inside a character, so each is checked to be UTF-8 alone.
 * @throws SyntaxError exactly when `JSON.parse` of the text would. @throws JsonTooComplexError beyond the limits.
 * @throws JsonNotUtf8Error
 */
export async function parseJsonInSlices(
  bytes: Buffer,
  yieldToLoop: () => Promise<void>,
  limits: SliceLimits = defaultSliceLimits,
): Promise<unknown> {
  const scanner = new Scanner(bytes, limits);
  const start = scanner.skipSpace(0);
  if (bytes[start] !== openBrace) return parseWhole(scanner);

  const result: Record<string, unknown> = {};
  let position = scanner.skipSpace(start + 1);
  if (bytes[position] === closeBrace) return finish(scanner, position + 1, result);
  for (let members = 1; members <= limits.membersMax; members++) {
    const colon = scanner.endOfValue(position, 1);
    if (bytes[colon] !== colonByte) throw new SyntaxError('expected a colon after a key');
    const key: unknown = JSON.parse(scanner.text(position, colon));
    if (typeof key !== 'string') throw new SyntaxError('expected a string as a key');
    const valueStart = scanner.skipSpace(colon + 1);
    const isArray = bytes[valueStart] === openBracket;
    const { value, end } = isArray
      ? await parseArray(scanner, valueStart, yieldToLoop)
      : parseMember(scanner, valueStart);
    setMember(result, key, value);
    const separator = scanner.skipSpace(end);
    if (bytes[separator] === closeBrace) return finish(scanner, separator + 1, result);
    if (bytes[separator] !== comma) throw new SyntaxError('expected a comma between members');
    position = scanner.skipSpace(separator + 1);
  }
  throw new JsonTooComplexError('too many members');
}

interface Parsed {
  readonly value: unknown;
  /** The position after the value. */
  readonly end: number;
}

/** What is no object at the top gets past no limit either. */
function parseWhole(scanner: Scanner): unknown {
  scanner.endOfValue(0, 0);
  return JSON.parse(scanner.text(0, scanner.bytes.length));
}

function parseMember(scanner: Scanner, from: number): Parsed {
  const end = scanner.endOfValue(from, 1);
  return { value: JSON.parse(scanner.text(from, end)), end };
}

async function parseArray(scanner: Scanner, from: number, yieldToLoop: () => Promise<void>): Promise<Parsed> {
  const elements: unknown[] = [];
  const first = scanner.skipSpace(from + 1);
  if (scanner.bytes[first] === closeBracket) return { value: elements, end: first + 1 };
  let sliceStart = first;
  let position = first;
  for (;;) {
    const end = scanner.endOfValue(position, 2);
    const separator = scanner.bytes[end];
    if (separator !== comma && separator !== closeBracket) throw new SyntaxError('the array does not end');
    position = end + 1;
    if (separator === comma && position - sliceStart < scanner.limits.sliceBytes) continue;
    const slice: unknown[] = JSON.parse(`[${scanner.text(sliceStart, end)}]`);
    // Nothing between two brackets is an array; nothing before or after a comma is an error.
    if (slice.length === 0) throw new SyntaxError('expected an element');
    for (const element of slice) elements.push(element);
    if (separator === closeBracket) return { value: elements, end: position };
    sliceStart = position;
    await yieldToLoop();
  }
}

function finish(scanner: Scanner, position: number, result: unknown): unknown {
  if (scanner.skipSpace(position) !== scanner.bytes.length)
    throw new SyntaxError('unexpected text after the end');
  return result;
}

/** As `JSON.parse` does it: `__proto__` becomes an ordinary own property. */
function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') {
    target[key] = value;
    return;
  }
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colonByte = 0x3a;
const quote = 0x22;
const backslash = 0x5c;

class Scanner {
  readonly bytes: Buffer;
  readonly limits: SliceLimits;

  constructor(bytes: Buffer, limits: SliceLimits) {
    this.bytes = bytes;
    this.limits = limits;
  }

  text(from: number, to: number): string {
    const piece = this.bytes.subarray(from, to);
    if (!isUtf8(piece)) throw new JsonNotUtf8Error('not UTF-8');
    return piece.toString('utf8');
  }

  skipSpace(from: number): number {
    let position = from;
    for (;;) {
      const byte = this.bytes[position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return position;
      position += 1;
    }
  }

  /**
   * The position of the first comma, colon or closing bracket outside strings and brackets at or after `from`, or
   * the end of the bytes. `depth` is how many brackets are open at `from`.
   */
  endOfValue(from: number, depth: number): number {
    const { bytes, limits } = this;
    let open = depth;
    let structureBytes = 0;
    let position = from;
    while (position < bytes.length) {
      const byte = bytes[position];
      if (byte === quote) {
        position = this.#endOfString(position + 1);
        continue;
      }
      if (byte === openBrace || byte === openBracket) {
        open += 1;
        if (open > limits.depthMax) throw new JsonTooComplexError('nested too deeply');
      } else if (byte === closeBrace || byte === closeBracket) {
        if (open === depth) return position;
        open -= 1;
      } else if (open === depth && (byte === comma || byte === colonByte)) {
        return position;
      }
      structureBytes += 1;
      if (structureBytes > limits.elementStructureBytesMax)
        throw new JsonTooComplexError('too much structure');
      position += 1;
    }
    return position;
  }

  /** The position after the closing quote. */
  #endOfString(from: number): number {
    const { bytes } = this;
    const firstQuote = bytes.indexOf(quote, from);
    if (firstQuote < 0) return bytes.length;
    // Ciphertext has no escapes: its end is found by a native search.
    if (bytes[firstQuote - 1] !== backslash) return firstQuote + 1;
    let position = from;
    while (position < bytes.length && bytes[position] !== quote)
      position += bytes[position] === backslash ? 2 : 1;
    return Math.min(position + 1, bytes.length);
  }
}
