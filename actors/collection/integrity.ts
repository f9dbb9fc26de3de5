/**
 * Where a client and the server differ (docs/protocol/sync.md, "Integrity"). Only live items of the user's own collection count.
 * Items keys, and items that only the client has, are never reported, because the client could not fetch them.
 */

import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { itemsKeyContentType } from './content-type.ts';
import { isUuid } from './incoming.ts';
import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';

export interface Mismatch {
  readonly uuid: string;
  /** The server's version, microseconds. */
  readonly updated_at_timestamp: number;
}
export const mismatchSchema: z.ZodType<Mismatch> = z.object({
  uuid: z.string(),
  updated_at_timestamp: z.int(),
});

export const integrityColumns = ['uuid', 'content_type', 'updated_at_timestamp'] as const;
export type IntegrityRow = Pick<ItemRow, (typeof integrityColumns)[number]>;

/**
 * Mismatches in one answer, at most. A client fetches each by a request of its own and checks again until none is left, so the
 * others come with the next checks. A million at once would block the event loop and cause a flood of requests.
 */
export const mismatchesMax = 5_000;

type Payload = Pick<ClientItem, 'uuid' | 'updated_at_timestamp'>;

/** A map doubles by moving all of its entries at once. One of half a million blocks the event loop for too long. */
const entriesOfMap = 65_536;

/** What the client says it has. Of several payloads with one uuid the last one counts. */
export class ClientVersions {
  /** By lower-case uuid, the newest map first. */
  readonly #maps: Map<string, Payload>[] = [];

  add(payload: Payload): void {
    if (!isUuid(payload.uuid)) return;
    let [map] = this.#maps;
    if (map === undefined || map.size >= entriesOfMap) {
      map = new Map();
      this.#maps.unshift(map);
    }
    map.set(payload.uuid.toLowerCase(), payload);
  }

  get(uuid: string): Payload | undefined {
    for (const map of this.#maps) {
      const payload = map.get(uuid);
      if (payload !== undefined) return payload;
    }
    return undefined;
  }
}

/** A client may name hundreds of thousands of items; comparing more than this at once would block the event loop. */
const payloadsInOneGo = 5_000;

export async function clientVersions(payloads: readonly Payload[]): Promise<ClientVersions> {
  const versions = new ClientVersions();
  for (let at = 0; at < payloads.length; at += payloadsInOneGo) {
    if (at > 0) await setImmediate();
    for (const payload of payloads.slice(at, at + payloadsInOneGo)) versions.add(payload);
  }
  return versions;
}

/** The mismatch for one of the server's live items, if there is one. */
export function mismatchOf(row: IntegrityRow, client: ClientVersions): Mismatch | undefined {
  if (row.content_type === itemsKeyContentType) return undefined;
  const held = client.get(row.uuid);
  if (held?.updated_at_timestamp === row.updated_at_timestamp) return undefined;
  return { uuid: isUuid(held?.uuid) ? held.uuid : row.uuid, updated_at_timestamp: row.updated_at_timestamp };
}
