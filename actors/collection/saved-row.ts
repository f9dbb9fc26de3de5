/**
 * The row that an accepted save leaves (docs/protocol/sync.md, "The stored item"). In short: ciphertext is replaced if the
 * client sent some, and kept if not. The fields that place an item in a vault are always replaced; an absent one counts as
 * removed. A tombstone keeps its identity and loses its ciphertext.
 */
import { type Head, stamp } from './head.ts';
import type { ClientFields } from './incoming.ts';
import type { ItemRow } from './item.ts';

export interface AcceptedSave {
  readonly saver: {
    readonly collection: string;
    readonly userUuid: string;
    readonly sessionUuid: string;
    readonly revisionPauseMs: number;
    /** Absent in the user's own collection, where everything is the user's. */
    readonly vault?: object | undefined;
  };
  readonly head: Head;
  /** Lower case. */
  readonly uuid: string;
  readonly fields: ClientFields;
  readonly fingerprint: Buffer;
  /** The stored row of this collection, absent on insert. */
  readonly rowHere: ItemRow | undefined;
  readonly nowMicros: number;
}

export function savedRow({
  saver,
  head,
  uuid,
  fields,
  fingerprint,
  rowHere,
  nowMicros,
}: AcceptedSave): ItemRow {
  const { position, updated_at_timestamp } = stamp(head, rowHere, nowMicros);
  const deleted = fields.deleted ?? rowHere?.deleted ?? false;
  const contentType = fields.contentType || (rowHere?.content_type ?? fields.contentType);
  const identity = rowIdentityOf({ collection: saver.collection, uuid }, position, rowHere);
  const stored = deleted ? blank : ciphertext(fields, rowHere);
  const save = { contentType, deleted, atMicros: updated_at_timestamp };
  const { revisions, revised_at } = revisedBy(save, rowHere, saver.revisionPauseMs);
  // The fields are written out, because spreading parts into a literal of so many fields costs more than the rest of a save.
  return {
    collection: identity.collection,
    uuid: identity.uuid,
    position: identity.position,
    created_position: identity.created_position,
    born: identity.born,
    hop: identity.hop,
    moved_to: identity.moved_to,
    owner_uuid: saver.vault === undefined ? saver.userUuid : (rowHere?.owner_uuid ?? saver.userUuid),
    content_type: contentType,
    content: stored.content,
    enc_item_key: stored.enc_item_key,
    items_key_id: stored.items_key_id,
    auth_hash: stored.auth_hash,
    size: stored.size,
    duplicate_of: fields.duplicateOf ?? rowHere?.duplicate_of ?? null,
    deleted,
    created_at_timestamp: createdAt(fields, rowHere, deleted, nowMicros),
    updated_at_timestamp,
    key_system_identifier: fields.keySystemIdentifier,
    shared_vault_uuid: fields.sharedVaultUuid,
    last_edited_by_uuid: fields.sharedVaultUuid === null ? null : saver.userUuid,
    updated_with_session: saver.sessionUuid,
    fingerprint,
    revisions,
    revised_at,
    // The turn names the revision, if the save makes one.
    revision_uuid: null,
  };
}

/** The fields by which a written row stays the same item, over the row that it replaces. */
export const rowIdentityOf = (
  { collection, uuid }: Pick<ItemRow, 'collection' | 'uuid'>,
  position: number,
  before: ItemRow | undefined,
) => ({
  collection,
  uuid,
  position,
  created_position: before?.created_position ?? position,
  born: before === undefined ? true : before.born,
  hop: before?.hop ?? null,
  moved_to: null,
});

type Ciphertext = Pick<ItemRow, 'content' | 'enc_item_key' | 'items_key_id' | 'auth_hash' | 'size'>;

const blank: Ciphertext = { content: null, enc_item_key: null, items_key_id: null, auth_hash: null, size: 0 };

function ciphertext(fields: ClientFields, rowHere: ItemRow | undefined): Ciphertext {
  const content = fields.content || (rowHere?.content ?? fields.content);
  const encItemKey = fields.encItemKey || (rowHere?.enc_item_key ?? fields.encItemKey);
  return {
    content,
    enc_item_key: encItemKey,
    items_key_id: fields.itemsKeyId || (rowHere?.items_key_id ?? fields.itemsKeyId),
    auth_hash: fields.authHash || (rowHere?.auth_hash ?? fields.authHash),
    size: bytesStored(content, encItemKey),
  };
}

/** Bytes of an item's other fields on the wire, estimated. */
const metadataBytes = 640;

const bytesStored = (content: string | null | undefined, encItemKey: string | null | undefined): number =>
  metadataBytes + Buffer.byteLength(content ?? '') + Buffer.byteLength(encItemKey ?? '');

interface ContentFields {
  readonly content?: string | undefined;
  readonly encItemKey?: string | undefined;
  readonly itemsKeyId?: string | undefined;
  readonly authHash?: string | undefined;
}

/** The ciphertext of a row that an import writes as it was on the other server: nothing is kept from before. */
export const ciphertextAsItWas = {
  tombstone: blank,
  whole: ({ content, encItemKey, itemsKeyId, authHash }: ContentFields): Ciphertext => ({
    content: content ?? null,
    enc_item_key: encItemKey ?? null,
    items_key_id: itemsKeyId ?? null,
    auth_hash: authHash ?? null,
    size: bytesStored(content, encItemKey),
  }),
} as const;

function createdAt(
  fields: ClientFields,
  rowHere: ItemRow | undefined,
  deleted: boolean,
  nowMicros: number,
): number {
  if (rowHere === undefined) return fields.createdAtMicros ?? nowMicros;
  if (deleted) return rowHere.created_at_timestamp;
  return fields.createdOrUpdatedAtMicros ?? 0;
}

const typesWithHistory: ReadonlySet<string | null> = new Set(['Note', 'SN|File']);

interface RevisableSave {
  readonly contentType: string | null;
  readonly deleted: boolean;
  readonly atMicros: number;
}

type Revised = Pick<ItemRow, 'revisions' | 'revised_at'>;

const never: Revised = { revisions: 0, revised_at: 0 };

/**
 * The count and time of the item's revisions after this save (docs/protocol/sync.md, "Revisions"). A count that grew means that
 * the save makes a revision. The time counts from the item's last revision, so that a user who writes for hours without a pause
 * gets revisions too. The item's own row has the time, so this costs no read.
 */
function revisedBy(save: RevisableSave, before: Revised = never, pauseMs: number): Revised {
  const { revisions, revised_at } = before;
  if (save.deleted) return { revisions, revised_at: 0 };
  const isDue = revised_at === 0 || save.atMicros - revised_at >= pauseMs * 1_000;
  if (!isDue || !typesWithHistory.has(save.contentType)) return { revisions, revised_at };
  return { revisions: revisions + 1, revised_at: save.atMicros };
}
