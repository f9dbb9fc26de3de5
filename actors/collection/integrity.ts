/**
 * Where a client and the server differ (docs/protocol/sync.md, "Integrity"). Only the user's live items count, in
 * their own collection and in vaults. Items keys, and items that only the client has, are never reported, because the client could not fetch them.
 */

import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { isUuid } from './incoming.ts';
import type { ItemRow } from './item.ts';
import { type ClientItem, itemsKeyContentType } from './item-fields.ts';

export interface Mismatch {
  readonly uuid: string;
  /** `updated_at` on the server, in microseconds. */
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

/** What the client says it has, by lower-case uuid. */
export type ClientVersions = ReadonlyMap<string, { readonly spelling: string; readonly version: unknown }>;

/** A client may name hundreds of thousands of items; comparing more than this at once would block the event loop. */
const payloadsInOneGo = 5_000;

export async function clientVersions(
  payloads: readonly Pick<ClientItem, 'uuid' | 'updated_at_timestamp'>[],
): Promise<ClientVersions> {
  const versions = new Map<string, { spelling: string; version: unknown }>();
  for (let at = 0; at < payloads.length; at += payloadsInOneGo) {
    if (at > 0) await setImmediate();
    for (const { uuid, updated_at_timestamp: version } of payloads.slice(at, at + payloadsInOneGo)) {
      if (isUuid(uuid)) versions.set(uuid.toLowerCase(), { spelling: uuid, version });
    }
  }
  return versions;
}

/** How the client's copy of one of the server's live items differs from it; undefined if it does not. */
export function mismatchOf(row: IntegrityRow, client: ClientVersions): Mismatch | undefined {
  if (row.content_type === itemsKeyContentType) return undefined;
  const held = client.get(row.uuid);
  if (held?.version === row.updated_at_timestamp) return undefined;
  return { uuid: held?.spelling ?? row.uuid, updated_at_timestamp: row.updated_at_timestamp };
}
