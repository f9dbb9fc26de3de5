/**
 * Encrypts the records of pairings. Each is sealed alone and bound to its kind and its subscription. One MAC over them all shows if a
 * record was altered, swapped, put back or taken away.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../runtime/random.ts';
import { open, seal, tagOf } from '../identity/sealing.ts';

export type RecordKind = 'attempt' | 'credential';
/** Keyed by kind, then by subscription. */
export type Records = Readonly<Record<RecordKind, ReadonlyMap<string, { readonly sealed: Uint8Array }>>>;

export interface PairingSeal {
  seal(kind: RecordKind, subscriptionId: string, plain: string, random: Pick<Random, 'bytes'>): Buffer;
  /** @throws Error when the bytes were altered, or sealed as another record or under another key */
  open(kind: RecordKind, subscriptionId: string, sealed: Uint8Array): string;
  macOf(records: Records): Buffer;
  isMacOf(records: Records, mac: Uint8Array): boolean;
}

/** `key`: 32 bytes. */
export function createPairingSeal(key: Buffer): PairingSeal {
  const derived = (purpose: string) => createHmac('sha256', key).update(purpose).digest();
  const recordKey = derived('pairing records');
  const setKey = derived('pairing set');
  const under = (kind: RecordKind, subscriptionId: string) => ({
    key: recordKey,
    purpose: `v1|${kind}|${subscriptionId}`,
  });
  const macOf = ({ attempt, credential }: Records): Buffer => {
    const mac = createHmac('sha256', setKey);
    for (const [kind, records] of Object.entries({ attempt, credential })) {
      for (const id of [...records.keys()].toSorted()) {
        mac.update(`${kind}|${id}|`).update(tagOf(records.get(id)?.sealed ?? new Uint8Array()));
      }
    }
    return mac.digest();
  };
  return {
    seal: (kind, subscriptionId, plain, random) => seal(under(kind, subscriptionId), plain, random),
    open: (kind, subscriptionId, sealed) => open(under(kind, subscriptionId), sealed),
    macOf,
    isMacOf(records, mac) {
      const expected = macOf(records);
      return mac.byteLength === expected.byteLength && timingSafeEqual(expected, mac);
    },
  };
}
