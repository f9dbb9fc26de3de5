/**
 * Replies of recorded calls. A call that must not take effect twice stores its reply in the commit of its turn. A repeat under
 * the same call id gets that reply. The database learns neither the call id nor the reply: the row is keyed by a digest of the
 * id, and the reply is encrypted with a key derived from the id.
 *
 * Housekeeping removes the rows after a while (`runtime/host/housekeeping.ts`). A busy actor would gather too many until then. So
 * its later commits also remove its oldest rows, once no repeat of them can come any more.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import type { Address } from '../address.ts';
import { OverloadedError } from '../errors.ts';
import type { Random } from '../random.ts';
import { decode, encode } from '../store/encoding.ts';
import type { callTable } from '../store/tables.ts';
import type { RowOf } from '../table.ts';

const cipher = 'aes-256-gcm';
/** Approximate memory of one entry: a digest and a time. */
const entryBytes = 144;
const nonceBytes = 12;
const tagBytes = 16;

export function callKey(callId: string): string {
  return createHash('sha256').update(`call key\u0000${callId}`).digest('base64url');
}

/** No repeat of a call comes later than this. It is more than twice the longest wait of a caller. */
const repeatWindowMs = 60_000;
/**
 * An actor keeps this many calls beyond the repeat window. It removes at least as many at once, because a commit that also removes
 * rows takes longer.
 */
const batchSize = 100;
/** The most calls that one commit removes. A commit removes more than it adds, so a surplus shrinks. */
const removedMax = 1_000;

/** The calls that an actor has recorded since its activation. It does not know of earlier ones, which housekeeping removes. */
export class RecordedCalls {
  readonly #max: number;
  /** When each call was recorded, oldest first. */
  readonly #recordedAtMs = new Map<string, number>();

  /** `max`: the most calls within the repeat window. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#recordedAtMs.size;
  }

  /** Approximate bytes in memory. */
  get bytes(): number {
    return this.#recordedAtMs.size * entryBytes;
  }

  /** Adds a new call. Returns the keys of the calls that its commit has to remove. @throws OverloadedError */
  add(key: string, nowMs: number): readonly string[] {
    if (this.#recordedAtMs.size < Math.min(this.#max, 2 * batchSize)) return this.#replace([], key, nowMs);
    const old = this.#oldest(removedMax + batchSize, nowMs - repeatWindowMs);
    if (this.#recordedAtMs.size - old.length >= this.#max)
      throw new OverloadedError('too many calls of this actor are being recorded');
    const surplus = old.length < 2 * batchSize ? [] : old.slice(0, -batchSize);
    return this.#replace(surplus, key, nowMs);
  }

  /** The oldest of the calls that were recorded before this time. */
  #oldest(limit: number, beforeMs: number): readonly string[] {
    const found: string[] = [];
    for (const [key, atMs] of this.#recordedAtMs) {
      if (atMs >= beforeMs || found.length === limit) break;
      found.push(key);
    }
    return found;
  }

  #replace(surplus: readonly string[], key: string, nowMs: number): readonly string[] {
    for (const each of surplus) this.#recordedAtMs.delete(each);
    this.#recordedAtMs.set(key, nowMs);
    return surplus;
  }
}

function replyKey(callId: string): Buffer {
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
  const encryption = createCipheriv(cipher, replyKey(callId), nonce);
  const encrypted = Buffer.concat([nonce, encryption.update(encode(1, reply)), encryption.final()]);
  const bytes = Buffer.concat([encrypted, encryption.getAuthTag()]);
  return { kind: self.kind, id: self.id, call_key: callKey(callId), shard, reply: bytes, at };
}

export function decryptReply(callId: string, bytes: Buffer): unknown {
  const decryption = createDecipheriv(cipher, replyKey(callId), bytes.subarray(0, nonceBytes));
  decryption.setAuthTag(bytes.subarray(-tagBytes));
  const encrypted = bytes.subarray(nonceBytes, -tagBytes);
  return decode(Buffer.concat([decryption.update(encrypted), decryption.final()]), 1);
}
