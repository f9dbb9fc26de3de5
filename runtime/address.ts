import { hash } from 'node:crypto';

/** An actor's address. `kind` names a declared kind; `id` is a uuid or another text of at most 128 characters. */
export interface Address {
  readonly kind: string;
  readonly id: string;
}

const buckets = 65_536;

/**
 * The shard of an address: the first two bytes of SHA-256 over kind, 0x00 and id, scaled to the shard count. If the count is
 * doubled, every shard splits in two, and nothing else moves.
 */
export function shardOf(address: Address, shardCount: number): number {
  const digest = hash('sha256', `${address.kind}\u0000${address.id}`, 'hex');
  return Math.floor((Number.parseInt(digest.slice(0, 4), 16) * shardCount) / buckets);
}

export function addressKey(address: Address): string {
  return `${address.kind}/${address.id}`;
}
