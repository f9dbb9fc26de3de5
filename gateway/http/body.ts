/**
 * Bodies on their way in and their JSON. All unfinished bodies of a process share one budget of bytes; a body is
 * unfinished until it has been parsed, as its bytes are held that long.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import {
  defaultSliceLimits,
  JsonNotUtf8Error,
  JsonTooComplexError,
  parseJsonInSlices,
} from './json-slices.ts';
import { type Refusal, refusals } from './refusal.ts';

export class BodyMemory {
  readonly bytesMax: number;
  bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  take(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false;
    this.bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.bytes -= bytes;
  }
}

/**
 * Collects the chunks of one body. They are copied, since uWebSockets.js takes their memory back. What a client
 * declares is believed only as an upper bound: memory grows with what has really come.
 */
export class BodyBuffer {
  readonly #memory: BodyMemory;
  readonly #bytesMax: number;
  readonly #capacityMax: number;
  #buffer: Buffer = emptyBuffer;
  #length = 0;

  /** `declaredBytes` is the `Content-Length`, 0 when there is none. */
  constructor(memory: BodyMemory, bytesMax: number, declaredBytes: number) {
    this.#memory = memory;
    this.#bytesMax = bytesMax;
    this.#capacityMax = declaredBytes === 0 ? bytesMax : declaredBytes;
  }

  append(chunk: Uint8Array): Refusal | undefined {
    const length = this.#length + chunk.byteLength;
    if (length > this.#bytesMax) return refusals.bodyTooLarge;
    if (length > this.#buffer.length && !this.#grow(length)) return refusals.bodyMemoryFull;
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
    return undefined;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Gives the memory back. May be called any number of times. */
  release(): void {
    this.#memory.release(this.#buffer.length);
    this.#buffer = emptyBuffer;
    this.#length = 0;
  }

  #grow(length: number): boolean {
    const doubled = Math.max(firstCapacity, this.#buffer.length * 2);
    const capacity = Math.max(length, Math.min(doubled, this.#capacityMax));
    if (!this.#memory.take(capacity - this.#buffer.length)) return false;
    const larger = Buffer.allocUnsafeSlow(capacity);
    larger.set(this.bytes);
    this.#buffer = larger;
    return true;
  }
}

const firstCapacity = 64 * 1024;
const emptyBuffer = Buffer.alloc(0);

export type JsonObject = Record<string, unknown>;
export type ParsedBody = { readonly body: JsonObject } | Refusal;

/** Above this, a body is parsed in slices. */
export const slicedAboveBytes = 1024 * 1024;

/** Parses at once. An empty body is an empty object: clients send a JSON content type with no body at all. */
export function parseBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return { body: {} };
  if (!isUtf8(bytes)) return refusals.bodyNotUtf8;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return refusals.bodyNotJson;
  }
  // Each level takes two bytes, so what is this short cannot be that deep.
  const tooDeep =
    bytes.length > defaultSliceLimits.depthMax * 2 && isDeeper(value, defaultSliceLimits.depthMax);
  return tooDeep ? refusals.bodyTooDeep : asObject(value);
}

/** The same for large bodies, letting the loop turn in between. */
export async function parseLargeBody(bytes: Buffer): Promise<ParsedBody> {
  try {
    return asObject(await parseJsonInSlices(bytes, setImmediate));
  } catch (error) {
    if (error instanceof JsonNotUtf8Error) return refusals.bodyNotUtf8;
    if (error instanceof JsonTooComplexError) return refusals.bodyTooDeep;
    if (error instanceof SyntaxError) return refusals.bodyNotJson;
    throw error;
  }
}

function asObject(value: unknown): ParsedBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refusals.bodyNotObject;
  return { body: value as JsonObject };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((element) => isDeeper(element, levels - 1));
  for (const key in value) {
    if (isDeeper((value as JsonObject)[key], levels - 1)) return true;
  }
  return false;
}
