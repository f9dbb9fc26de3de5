/**
 * The memory of incoming bodies, and their JSON. All unfinished bodies of a process share one budget of bytes, and
 * each user may take a share of it. Once half of it is taken, a network may take no more than that share either, so
 * that no network fills it with several accounts. A body is unfinished until its handler is done, because the parsed
 * result takes no less memory.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { Counts } from './counts.ts';
import {
  defaultSliceLimits,
  JsonNotUtf8Error,
  JsonTooComplexError,
  JsonTooDeepError,
  JsonTooManyValuesError,
  scanJson,
} from './json-slices.ts';
import { type HttpRefusal, refusals } from './refusal.ts';

/** Counts the bytes of bodies that are held. */
export interface BodyAccount {
  /** False: there is no capacity for that many bytes. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

export class BodyMemory implements BodyAccount {
  readonly bytesMax: number;
  readonly #shareBytesMax: number;
  readonly #users = new Counts();
  readonly #networks = new Counts();
  bytes = 0;

  constructor(bytesMax: number, shareBytesMax = bytesMax) {
    this.bytesMax = bytesMax;
    this.#shareBytesMax = shareBytesMax;
  }

  take(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false;
    this.bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.bytes -= bytes;
  }

  /**
   * The account of a user. If the user's name is empty, it is that of all anonymous clients. Without a network it
   * counts for none, as with streams, which are held back instead.
   */
  shareOf(user: string, network?: string): BodyAccount {
    const ofNetwork = network === undefined ? this : this.ofNetwork(network);
    return {
      take: (bytes) => {
        if (this.#users.of(user) + bytes > this.#shareBytesMax) return false;
        if (network !== undefined && !this.#hasCapacityFor(network, bytes)) return false;
        if (!ofNetwork.take(bytes)) return false;
        this.#users.add(user, bytes);
        return true;
      },
      release: (bytes) => {
        ofNetwork.release(bytes);
        this.#users.add(user, -bytes);
      },
    };
  }

  /** Counts for the network, and is bounded only by the total. */
  ofNetwork(network: string): BodyAccount {
    return {
      take: (bytes) => {
        if (!this.take(bytes)) return false;
        this.#networks.add(network, bytes);
        return true;
      },
      release: (bytes) => {
        this.release(bytes);
        this.#networks.add(network, -bytes);
      },
    };
  }

  #hasCapacityFor(network: string, bytes: number): boolean {
    const isHalfFree = (this.bytes + bytes) * 2 <= this.bytesMax;
    return isHalfFree || this.#networks.of(network) + bytes <= this.#shareBytesMax;
  }
}

/**
 * Collects the chunks of one body. It copies them, since uWebSockets.js takes their memory back. It trusts a declared
 * length only as an upper bound: memory grows with the bytes that have arrived.
 */
export class BodyBuffer {
  readonly #account: BodyAccount;
  readonly #bytesMax: number;
  readonly #capacityMax: number;
  #buffer: Buffer = emptyBuffer;
  #length = 0;
  #heldBytes = 0;

  /** `declaredBytes` is the `Content-Length`, 0 when there is none. */
  constructor(account: BodyAccount, bytesMax: number, declaredBytes: number) {
    this.#account = account;
    this.#bytesMax = bytesMax;
    this.#capacityMax = declaredBytes === 0 ? bytesMax : declaredBytes;
  }

  append(chunk: Uint8Array): HttpRefusal | undefined {
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

  /** Releases the bytes. They still count, because the values parsed from them are in memory instead. */
  parsed(): void {
    this.#buffer = emptyBuffer;
    this.#length = 0;
  }

  /** Gives the memory back. May be called any number of times. */
  release(): void {
    this.parsed();
    this.#account.release(this.#heldBytes);
    this.#heldBytes = 0;
  }

  #grow(length: number): boolean {
    const doubled = Math.max(firstCapacity, this.#buffer.length * 2);
    const capacity = Math.max(length, Math.min(doubled, this.#capacityMax));
    const moreBytes = capacity - this.#buffer.length;
    if (!this.#account.take(moreBytes)) return false;
    this.#heldBytes += moreBytes;
    const larger = Buffer.allocUnsafeSlow(capacity);
    larger.set(this.bytes);
    this.#buffer = larger;
    return true;
  }
}

/** A client that sends one byte and waits takes no more capacity than that from others. */
const firstCapacity = 4 * 1024;
const emptyBuffer = Buffer.alloc(0);

export type JsonObject = Record<string, unknown>;
export type ParsedBody = { readonly body: JsonObject } | HttpRefusal;

/** Above this size, a body is parsed in slices. Below it, the worst body takes a few milliseconds. */
export const slicedAboveBytes = 256 * 1024;

/** Parses at once. An empty body is an empty object, because clients send a JSON content type without any body. */
export function parseBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return { body: {} };
  if (!isUtf8(bytes)) return refusals.bodyNotUtf8;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return refusals.bodyNotJson;
  }
  // Each level takes two bytes, so a body this short cannot nest too deep.
  const tooDeep =
    bytes.length > defaultSliceLimits.depthMax * 2 && isDeeper(value, defaultSliceLimits.depthMax);
  return tooDeep ? refusals.bodyTooDeep : asObject(value);
}

/** The size of an empty object or a short string. */
const valueBytes = 64;

export interface LargeBodyOptions {
  /** The fields that the handler reads; absent: all. */
  readonly fieldNames?: ReadonlySet<string> | undefined;
  /** Reserves the memory of all values but the strings, before they are made. False: there is no capacity. */
  readonly take: (bytes: number) => boolean;
  /** Whether the body is still wanted. */
  readonly isNeeded: () => boolean;
}

/** The same for large bodies. It lets the event loop turn in between. Undefined if the body is no longer wanted. */
export async function parseLargeBody(
  bytes: Buffer,
  { fieldNames, take, isNeeded }: LargeBodyOptions,
): Promise<ParsedBody | undefined> {
  const turn = async (): Promise<void> => {
    await setImmediate();
    if (!isNeeded()) throw new Abandoned();
  };
  try {
    const scanned = await scanJson(bytes, turn, { fieldNames });
    if (!take(scanned.values * valueBytes)) return refusals.bodyMemoryFull;
    return asObject(await scanned.parse(turn));
  } catch (error) {
    if (error instanceof Abandoned) return undefined;
    if (error instanceof JsonNotUtf8Error) return refusals.bodyNotUtf8;
    if (error instanceof JsonTooDeepError) return refusals.bodyTooDeep;
    if (error instanceof JsonTooComplexError) return refusals.bodyTooComplex;
    if (error instanceof JsonTooManyValuesError) return refusals.bodyTooManyValues;
    if (error instanceof SyntaxError) return refusals.bodyNotJson;
    throw error;
  }
}

/** Never leaves this file. */
class Abandoned extends Error {}

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
