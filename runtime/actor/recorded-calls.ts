/**
 * Replies of recorded calls. A call that must not take effect twice has its reply kept in the commit of its turn, so that a
 * repeat under the same call id gets the same answer. The database learns neither the call id nor the reply: the row is found by
 * a digest of the id, and sealed under a key derived from it.
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
/** A digest, and when. */
const noteBytes = 144;
const nonceBytes = 12;
const tagBytes = 16;

export function callKey(callId: string): string {
  return createHash('sha256').update(`call key\u0000${callId}`).digest('base64url');
}

/** No repeat of a call comes later: twice what its caller waits at most. */
const repeatsMs = 60_000;
/** So many of one actor's are kept longer than that. As many go at once, as a commit that also removes takes longer. */
const keptMax = 100;
/** No commit removes more. Each removes more than the one that it adds, so they end. */
const goingMax = 1_000;

/** The recorded calls of an actor, as far as it knows: those of this activation. */
export class RecordedCalls {
  readonly #max: number;
  /** When each was made, oldest first. */
  readonly #madeAtMs = new Map<string, number>();

  /** `max`: so many may be made in the time in which their repeats come. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#madeAtMs.size;
  }

  /** What they take in memory, about. */
  get bytes(): number {
    return this.#madeAtMs.size * noteBytes;
  }

  /** Notes one that is being made. Gives those that are to go with its commit. @throws OverloadedError */
  add(key: string, nowMs: number): readonly string[] {
    if (this.#madeAtMs.size < Math.min(this.#max, 2 * keptMax)) return this.#note(key, nowMs, []);
    const old = this.#oldest(goingMax + keptMax, nowMs - repeatsMs);
    if (this.#madeAtMs.size - old.length >= this.#max)
      throw new OverloadedError('too many calls of this actor are being recorded');
    const surplus = old.length < 2 * keptMax ? [] : old.slice(0, -keptMax);
    return this.#note(key, nowMs, surplus);
  }

  /** At most so many of those that were made before this. */
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
