/**
 * Replies of recorded calls. A call that must not take effect twice stores its reply in the commit of its turn. A repeat under
 * the same call id gets that reply. The database learns neither the call id nor the reply. A digest of the id finds the row, and
 * a key derived from the id seals it.
 *
 * Housekeeping removes the rows after a while (`runtime/host/housekeeping.ts`). An actor that is called so often that too many
 * would gather removes its oldest ones earlier, with the commit of a later call.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import type { Address } from '../address.ts';
import { OverloadedError } from '../errors.ts';
import type { Random } from '../random.ts';
import { decode, encode } from '../store/encoding.ts';
import type { callTable } from '../store/tables.ts';
import type { RowOf } from '../table.ts';

const cipher = 'aes-256-gcm';
/** A digest and its time. */
const noteBytes = 144;
const nonceBytes = 12;
const tagBytes = 16;

export function callKey(callId: string): string {
  return createHash('sha256').update(`call key\u0000${callId}`).digest('base64url');
}

/** No repeat of a call comes later than this, twice the longest wait of its caller. */
const repeatsMs = 60_000;
/** An actor keeps this many longer than that. As many are removed at once, because a commit that also removes takes longer. */
const callsMax = 100;
/** The most that one commit removes. Each removes more than it adds, so this ends. */
const goingMax = 1_000;

/** The recorded calls that an actor knows of: those of this activation. */
export class RecordedCalls {
  readonly #max: number;
  /** When each call was recorded, oldest first. */
  readonly #madeAtMs = new Map<string, number>();

  /** `max`: the most calls in the time in which their repeats come. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#madeAtMs.size;
  }

  /** Approximate bytes in memory. */
  get bytes(): number {
    return this.#madeAtMs.size * noteBytes;
  }

  /** Notes a new call. Returns the calls that its commit removes. @throws OverloadedError */
  add(key: string, nowMs: number): readonly string[] {
    if (this.#madeAtMs.size < Math.min(this.#max, 2 * callsMax)) return this.#note(key, nowMs, []);
    const old = this.#oldest(goingMax + callsMax, nowMs - repeatsMs);
    if (this.#madeAtMs.size - old.length >= this.#max)
      throw new OverloadedError('too many calls of this actor are being recorded');
    const surplus = old.length < 2 * callsMax ? [] : old.slice(0, -callsMax);
    return this.#note(key, nowMs, surplus);
  }

  /** The oldest of the calls recorded before this time, up to a number. */
  #oldest(most: number, beforeMs: number): readonly string[] {
    const found: string[] = [];
    for (const [key, atMs] of this.#madeAtMs) {
      if (atMs >= beforeMs || found.length === most) break;
      found.push(key);
    }
    return found;
  }

  #note(key: string, nowMs: number, surplus: readonly string[]): readonly string[] {
    for (const each of surplus) this.#madeAtMs.delete(each);
    this.#madeAtMs.set(key, nowMs);
    return surplus;
  }
}

function sealingKey(callId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', callId, '', 'recorded call reply', 32));
}

export function recordedCall({
  self,
  shard,
  callId,
  reply,
  at,
  random,
}: {
  readonly self: Address;
  readonly shard: number;
  readonly callId: string;
  readonly reply: unknown;
  readonly at: number;
  readonly random: Pick<Random, 'bytes'>;
}): RowOf<typeof callTable> {
  const nonce = random.bytes(nonceBytes);
  const seal = createCipheriv(cipher, sealingKey(callId), nonce);
  const sealed = Buffer.concat([nonce, seal.update(encode(1, reply)), seal.final()]);
  const bytes = Buffer.concat([sealed, seal.getAuthTag()]);
  return { kind: self.kind, id: self.id, call_key: callKey(callId), shard, reply: bytes, at };
}

export function openReply(callId: string, bytes: Buffer): unknown {
  const open = createDecipheriv(cipher, sealingKey(callId), bytes.subarray(0, nonceBytes));
  open.setAuthTag(bytes.subarray(-tagBytes));
  const sealed = bytes.subarray(nonceBytes, -tagBytes);
  return decode(Buffer.concat([open.update(sealed), open.final()]), 1);
}
