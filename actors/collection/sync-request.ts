/** The requests of item commands (docs/protocol/sync.md, "The request" and "Integrity"), in the names of the wire. */
import { z } from 'zod';
import { type Refused, refuse } from '../reply.ts';
import { commandIdentitySchema } from '../sync-command.ts';
import { isAbsent, isUuid } from './incoming.ts';
import type { ClientItem } from './item-fields.ts';

const vaultsMax = 1_000;
const payloadsMax = 500_000;

/** How the API description states what is checked by hand. */
const listOfObjects = { type: 'array', items: { type: 'object' } };

/** A field of a wrong type is that item's conflict, so items only have to be objects here. */
const objects = z
  .custom<readonly ClientItem[]>(
    (value) => Array.isArray(value) && value.every(isObject),
    'must be a list of objects',
  )
  .meta(listOfObjects);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body of a sync. */
export const syncBody = z.object({
  items: objects.nullish(),
  /** Absent, null or empty: a first sync. */
  sync_token: z.string().nullish(),
  cursor_token: z.string().nullish(),
  limit: z.number().nullish(),
  shared_vault_uuids: z.array(z.string()).max(vaultsMax).nullish(),
  api: z.string().nullish(),
  /** Legacy filter: only items of this type are given. */
  content_type: z.string().nullish(),
  /** The client's name for this sync. It is checked by hand, as its refusals have tags of their own. */
  command: z.unknown().optional(),
});

/** The request of `sync` and its siblings: the body and the X-SNJS-Version header. */
export const syncFields = syncBody.extend({
  snjs_version: z.string().nullable(),
  /** The name of this sync, from the body or from headers; undefined without one. */
  identity: commandIdentitySchema.optional(),
});
export type SyncRequest = z.infer<typeof syncFields>;

export const integrityFields = z.object({
  integrityPayloads: z
    .custom<readonly ClientItem[]>(
      (value) => Array.isArray(value) && value.length <= payloadsMax && value.every(isObject),
      'must be a list of objects',
    )
    .meta({ ...listOfObjects, maxItems: payloadsMax })
    .nullish(),
});

/** The item that a request names. */
export const itemFields = z.object({ uuid: z.string() });

const modernVersions: ReadonlySet<string> = new Set(['20190520', '20200115', '20240226']);

/** Whether the old shape of the protocol applies: a missing or unknown version means 20161215. */
export function isLegacy({ api }: SyncRequest): boolean {
  return !modernVersions.has(api ?? '');
}

/** A request that names vaults asks for their items alone (docs/protocol/sync.md, "Vaults"). */
export function isVaultExclusive({ shared_vault_uuids: vaults }: SyncRequest): boolean {
  return !isAbsent(vaults) && vaults.length > 0;
}

/** Clients send 150. */
const itemsMax = 20_000;

/** Defects that fail the whole request rather than one item of it. */
export function malformed(items: readonly ClientItem[]): Refused | undefined {
  if (items.length > itemsMax)
    return refuse.badRequest(`No more than ${itemsMax} items can be saved at once.`);
  const wrong = items.find(({ shared_vault_uuid: vault }) => !isAbsent(vault) && !isUuid(vault));
  if (wrong === undefined) return undefined;
  return refuse.badRequest(`Given value is not a valid uuid: ${quoted(wrong.shared_vault_uuid)}`);
}

const printedLengthMax = 64;

function quoted(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, printedLengthMax);
}
