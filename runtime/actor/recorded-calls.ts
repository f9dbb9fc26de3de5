/**
 * Replies of recorded calls: the reply of a call that must not take effect twice is kept in the commit
 * of its turn, so that a repeat under the same call id gets the same answer. The database learns neither the call id
 * nor the reply: the row is found by a digest of the id and sealed under a key derived from it.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import type { Address } from '../address.ts';
import type { Random } from '../random.ts';
import { decode, encode } from '../store/encoding.ts';
import type { callTable } from '../store/tables.ts';
import type { RowOf } from '../table.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export function callKey(callId: string): string {
  return createHash('sha256').update(`call key\u0000${callId}`).digest('base64url');
}

function sealingKey(callId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', callId, '', 'recorded call reply', 32));
}

export function recordedCall(
  self: Address,
  shard: number,
  callId: string,
  reply: unknown,
  at: number,
  random: Pick<Random, 'bytes'>,
): RowOf<typeof callTable> {
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
