/**
 * `JSON.parse` for large bodies, a slice at a time, so that no body blocks the event loop or grows beyond its counted
 * size.
 *
 *     scan (counts, makes nothing) -> slices -> parse, slice by slice
 *
 * The text is an object at the top, and its arrays make it large (a sync's `items`). A scanner that knows strings and
 * nesting walks the bytes. It finds the ends of the object's members and of the elements of arrays directly below it.
 * Everything between two such ends is handed to `JSON.parse`; the scanner itself never judges what is valid. Two
 * facts make the result equal to `JSON.parse` of the whole:
 * - On valid JSON the scanner's ends are the real ones, as a comma or bracket outside strings is structure.
 * - The parser accepts `{`, members of a parsed key, a colon and a parsed value, commas between them, `}`. Every
 *   piece was accepted by `JSON.parse`, so the whole is valid JSON. Unwanted members are the exception: the parser
 *   skips them without a check.
 *
 * Between slices, both scanning and parsing await the caller's `yieldToLoop`. Memory: the bytes and the result, and
 * one slice's text. One element is one slice, however large. Its time is bounded by `elementStructureBytesMax` and
 * `escapedStringBytesMax`: a long plain string is cheap to parse, much structure and many escapes are not.
 */

import { isAscii, isUtf8 } from 'node:buffer';

export interface SliceLimits {
  /** A slice ends with the element by which it reaches this number of bytes. */
  readonly sliceBytes: number;
  /** The same for its bytes outside strings. The slice ends at whichever bound it reaches first. */
  readonly sliceStructureBytes: number;
  readonly depthMax: number;
  /** Bytes outside strings of a single element or member. */
  readonly elementStructureBytesMax: number;
  /** The longest string with escapes, which cost a hundred times as much as other characters. */
  readonly escapedStringBytesMax: number;
  /** Members of the object at the top. */
  readonly membersMax: number;
  /** The most elements of all arrays directly below the top. An integrity check may name 500,000 items. */
  readonly elementsMax: number;
  /** Values of all kinds at any depth, counted by commas and opening brackets. Those items have three each. */
  readonly valuesMax: number;
}

const kibibyte = 1024;

export const defaultSliceLimits: SliceLimits = {
  sliceBytes: 256 * kibibyte,
  sliceStructureBytes: 64 * kibibyte,
  depthMax: 64,
  elementStructureBytesMax: 128 * kibibyte,
  escapedStringBytesMax: 2 * 1024 * kibibyte,
  membersMax: 1_024,
  elementsMax: 500_000,
  valuesMax: 2_000_000,
};

/** The text may be JSON, but holds more in one place than the limits allow. */
export class JsonTooComplexError extends Error {}
/** The text nests deeper than allowed. */
export class JsonTooDeepError extends JsonTooComplexError {}
/** The text may be JSON, but has more members, elements or values than the limits allow. */
export class JsonTooManyValuesError extends Error {}
/** The text is not valid UTF-8. */
export class JsonNotUtf8Error extends Error {}

type Yield = () => Promise<void>;

/** A text whose parsed size is known. */
export interface ScannedJson {
  /** An upper bound of the values in the text. */
  readonly values: number;
  /** Call once: it uses up the bytes. @throws SyntaxError @throws JsonNotUtf8Error */
  parse(yieldToLoop: Yield): Promise<unknown>;
}

export interface ScanOptions {
  readonly limits?: SliceLimits;
  /** Members of the object at the top that are wanted; absent: all. */
  readonly fieldNames?: ReadonlySet<string> | undefined;
}

/**
 * Scans `bytes`. Pieces begin and end beside structure, never inside a character, so each is checked to be UTF-8 alone.
 * The scan and the parsing together throw a SyntaxError exactly when `JSON.parse` of the text would.
 *
 * @throws SyntaxError @throws JsonTooComplexError @throws JsonTooManyValuesError @throws JsonNotUtf8Error
 */
export async function scanJson(
  bytes: Buffer,
  yieldToLoop: Yield,
  { limits = defaultSliceLimits, fieldNames }: ScanOptions = {},
): Promise<ScannedJson> {
  const scanner = new Scanner(bytes, limits);
  const start = scanner.skipSpace(0);
  if (bytes[start] !== openBrace) return scanWhole(scanner);

  const members: JsonMember[] = [];
  const scanned = (end: number): ScannedJson => {
    requireEnd(scanner, end);
    return { values: scanner.values, parse: (yieldToParse) => parseMembers(scanner, members, yieldToParse) };
  };
  let position = scanner.skipSpace(start + 1);
  if (bytes[position] === closeBrace) return scanned(position + 1);
  for (let count = 1; count <= limits.membersMax; count++) {
    const colon = scanner.endOfValue(position, 1);
    if (bytes[colon] !== colonByte) throw new SyntaxError('expected a colon after a key');
    const key = keyOf(scanner, position, colon, fieldNames);
    const from = scanner.skipSpace(colon + 1);
    const slices: number[] = [];
    const isArray = bytes[from] === openBracket;
    const end = isArray ? await scanArray(scanner, from, slices, yieldToLoop) : scanner.endOfValue(from, 1);
    if (key !== undefined) members.push({ key, from, end, slices: isArray ? slices : undefined });
    if (scanner.isTurnDue()) await yieldToLoop();
    const separator = scanner.skipSpace(end);
    if (bytes[separator] === closeBrace) return scanned(separator + 1);
    if (bytes[separator] !== comma) throw new SyntaxError('expected a comma between members');
    position = scanner.skipSpace(separator + 1);
  }
  throw new JsonTooManyValuesError('too many members');
}

/** A member of the object at the top. */
interface JsonMember {
  readonly key: string;
  readonly from: number;
  readonly end: number;
  /** Where the slices of an array end: at their last comma or the closing bracket. */
  readonly slices: readonly number[] | undefined;
}

/**
 * Nothing accepts anything but an object at the top. Other values are parsed only to find out whether they are JSON.
 */
function scanWhole(scanner: Scanner): ScannedJson {
  const { bytes, limits } = scanner;
  if (bytes.length > limits.elementStructureBytesMax) throw new JsonTooComplexError('no object');
  scanner.endOfValue(0, 0);
  return {
    values: scanner.values,
    parse: async () => JSON.parse(scanner.text(0, bytes.length)),
  };
}

/** No known name is this long, however it is escaped. */
const keyBytesMax = 1024;

/** Undefined for an unwanted member. */
function keyOf(
  scanner: Scanner,
  from: number,
  to: number,
  fieldNames: ReadonlySet<string> | undefined,
): string | undefined {
  if (fieldNames !== undefined && to - from > keyBytesMax) return undefined;
  const key: unknown = JSON.parse(scanner.text(from, to));
  if (typeof key !== 'string') throw new SyntaxError('expected a string as a key');
  return fieldNames === undefined || fieldNames.has(key) ? key : undefined;
}

/** Notes where its slices end. Returns the position after it. */
async function scanArray(
  scanner: Scanner,
  from: number,
  slices: number[],
  yieldToLoop: Yield,
): Promise<number> {
  const { bytes, limits } = scanner;
  let position = scanner.skipSpace(from + 1);
  if (bytes[position] === closeBracket) return position + 1;
  let sliceStart = position;
  let sliceStructureStart = scanner.structureBytes;
  for (;;) {
    const end = scanner.endOfValue(position, 2);
    const separator = bytes[end];
    if (separator !== comma && separator !== closeBracket) throw new SyntaxError('the array does not end');
    scanner.countElement();
    position = end + 1;
    if (separator === closeBracket) {
      slices.push(end);
      return position;
    }
    const isFull =
      position - sliceStart >= limits.sliceBytes ||
      scanner.structureBytes - sliceStructureStart >= limits.sliceStructureBytes;
    if (!isFull) continue;
    slices.push(end);
    sliceStart = position;
    sliceStructureStart = scanner.structureBytes;
    if (scanner.isTurnDue()) await yieldToLoop();
  }
}

async function parseMembers(
  scanner: Scanner,
  members: readonly JsonMember[],
  yieldToLoop: Yield,
): Promise<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  let parsedBytes = 0;
  const parsed = async (bytes: number): Promise<void> => {
    parsedBytes += bytes;
    if (parsedBytes < scanner.limits.sliceStructureBytes) return;
    parsedBytes = 0;
    await yieldToLoop();
  };
  for (const { key, from, end, slices } of members) {
    if (slices !== undefined) {
      setMember(result, key, await parseArray(scanner, from, slices, parsed));
      continue;
    }
    setMember(result, key, JSON.parse(scanner.text(from, end)));
    await parsed(end - from);
  }
  return result;
}

async function parseArray(
  scanner: Scanner,
  from: number,
  slices: readonly number[],
  parsed: (bytes: number) => Promise<void>,
): Promise<unknown[]> {
  const elements: unknown[] = [];
  let start = from + 1;
  for (const end of slices) {
    const slice: unknown[] = JSON.parse(scanner.bracketed(start, end));
    // Two brackets with nothing between them are an array. A missing value before or after a comma is an error.
    if (slice.length === 0) throw new SyntaxError('expected an element');
    for (const element of slice) elements.push(element);
    await parsed(end - start);
    start = end + 1;
  }
  return elements;
}

function requireEnd(scanner: Scanner, position: number): void {
  if (scanner.skipSpace(position) !== scanner.bytes.length)
    throw new SyntaxError('unexpected text after the end');
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

/** The steps between two turns of the loop, about a millisecond. Native searches skip strings, so these count for fewer steps. */
const stepsOfTurn = 128 * kibibyte;
const stringBytesPerStep = 16;

class Scanner {
  readonly bytes: Buffer;
  readonly limits: SliceLimits;
  values = 0;
  structureBytes = 0;
  #elements = 0;
  #steps = 0;

  constructor(bytes: Buffer, limits: SliceLimits) {
    this.bytes = bytes;
    this.limits = limits;
  }

  text(from: number, to: number): string {
    const piece = this.bytes.subarray(from, to);
    // Ciphertext is ASCII, which needs copying but no decoding.
    if (isAscii(piece)) return piece.toString('latin1');
    if (!isUtf8(piece)) throw new JsonNotUtf8Error('not UTF-8');
    return piece.toString('utf8');
  }

  /** Parses the slice as an array of its own. The comma or bracket around it is not read again. */
  bracketed(from: number, to: number): string {
    this.bytes[from - 1] = openBracket;
    this.bytes[to] = closeBracket;
    return this.text(from - 1, to + 1);
  }

  skipSpace(from: number): number {
    const last = from + this.limits.elementStructureBytesMax;
    for (let position = from; position < last; position++) {
      const byte = this.bytes[position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return position;
    }
    throw new JsonTooComplexError('too much space');
  }

  /** Counts an element of an array below the top. */
  countElement(): void {
    this.#elements += 1;
    if (this.#elements > this.limits.elementsMax) throw new JsonTooManyValuesError('too many elements');
  }

  /** Whether it has scanned so much that the loop should turn. */
  isTurnDue(): boolean {
    if (this.#steps < stepsOfTurn) return false;
    this.#steps = 0;
    return true;
  }

  /**
   * The position of the first comma, colon or closing bracket outside strings and brackets at or after `from`, or
   * the end of the bytes. `depth` is how many brackets are open at `from`.
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scanner is one loop over bytes.
  endOfValue(from: number, depth: number): number {
    const { bytes, limits } = this;
    let open = depth;
    let values = 1;
    let structureBytes = 0;
    let position = from;
    for (; position < bytes.length; position++) {
      const byte = bytes[position];
      if (byte === quote) {
        position = this.#endOfString(position + 1) - 1;
        continue;
      }
      if (byte === openBrace || byte === openBracket) {
        values += 1;
        open += 1;
        if (open > limits.depthMax) throw new JsonTooDeepError('nested too deeply');
      } else if (byte === closeBrace || byte === closeBracket) {
        if (open === depth) break;
        open -= 1;
      } else if (byte === comma || byte === colonByte) {
        if (open === depth) break;
        if (byte === comma) values += 1;
      }
      structureBytes += 1;
      if (structureBytes > limits.elementStructureBytesMax)
        throw new JsonTooComplexError('too much structure');
    }
    // The terminator is structure too.
    this.structureBytes += structureBytes + 1;
    this.#steps += structureBytes + 1 + (position - from - structureBytes) / stringBytesPerStep;
    this.values += values;
    if (this.values > limits.valuesMax) throw new JsonTooManyValuesError('too many values');
    return position;
  }

  /** The position after the closing quote. */
  #endOfString(from: number): number {
    const { bytes, limits } = this;
    const firstQuote = bytes.indexOf(quote, from);
    if (firstQuote < 0) return bytes.length;
    // Ciphertext has no escapes, so a native search finds its end.
    if (bytes[firstQuote - 1] !== backslash) {
      if (firstQuote - from > limits.escapedStringBytesMax) this.#requirePlain(from, firstQuote);
      return firstQuote + 1;
    }
    const last = Math.min(bytes.length, from + limits.escapedStringBytesMax);
    let position = from;
    while (position < last && bytes[position] !== quote) position += bytes[position] === backslash ? 2 : 1;
    if (position < last) return position + 1;
    if (last < bytes.length) throw new JsonTooComplexError('a long string with escapes');
    return bytes.length;
  }

  #requirePlain(from: number, to: number): void {
    if (this.bytes.subarray(from, to).includes(backslash))
      throw new JsonTooComplexError('a long string with escapes');
  }
}
