/**
 * Saving one item (docs/protocol/sync.md, "Saving an item"): the checks in their order, then the row that results.
 * Pure: the caller brings the stored row and the head, and writes what comes back.
 *
 * 1. the uuid is well-formed                   else uuid_conflict
 * 2. (the caller brought the stored row, no matter whose it is)
 * 3. the session may write                     else readonly_error
 * 4. the user is a member of this vault        else shared_vault_*; before the time check, which would show the
 *                                              stored ciphertext to a non-member
 * 5. the item is here, or nowhere              else it is not here, and the caller looks further
 * 6. not a repeat of the last accepted save    else saved, and nothing is written
 * 7. based on exactly the stored version       else sync_conflict with the stored row
 * 8. fields are of their types and limits      else content_type_error, content_error, uuid_error
 * 9. the member may do this (vault-rules.ts)   else shared_vault_*
 * 10. the client knows vaults, if the save concerns one   else shared_vault_snjs_version_error
 *
 * An item that passes all of them and names another collection moves there (see transfer.ts), and that collection checks it
 * again. An item that comes from another collection is saved over the row that it had there.
 *
 * A mismatch is always the client's to merge: nothing here compares contents or lets the later time win.
 */
import type { Permission } from '../inbox-entries.ts';
import { type Conflict, refusal, syncConflict } from './conflicts.ts';
import type { Head } from './head.ts';
import { defectOf, fieldsOf, isAbsent, isUuid } from './incoming.ts';
import { arrivedRowOf, type ItemRow, isForwardingTombstone, isWhole } from './item.ts';
import { type ClientItem, fingerprintOfSave, parseMicros } from './item-fields.ts';
import { savedRow } from './saved-row.ts';
import { knowsVaults, type VaultOperation, type VaultSave, vaultDefect } from './vault-rules.ts';

/** The user who saves, the collection, and the rules that apply. */
export interface Saver {
  readonly collection: string;
  readonly userUuid: string;
  readonly sessionUuid: string;
  readonly readOnly: boolean;
  /** API version 20161215, whose clients may send no timestamps. */
  readonly legacy: boolean;
  /** The X-SNJS-Version header. */
  readonly snjsVersion: string | null;
  readonly contentLimitBytes: number;
  /** The user's rights in the collection of a vault. Absent in their own. */
  readonly vault?: VaultRight | undefined;
  /** The time between two revisions of an item, at least. */
  readonly revisionPauseMs: number;
}

interface VaultRight {
  /** Null for a user who is not a member. */
  readonly permission: Permission | null;
  owns(ownerUuid: string): boolean;
}

export type SaveOutcome =
  | { readonly outcome: 'conflict'; readonly conflict: Conflict }
  /** A repeat of a save: this is the item's row, and nothing has to be written. */
  | { readonly outcome: 'repeat'; readonly row: ItemRow }
  /** The item is in another collection. */
  | { readonly outcome: 'notHere' }
  /** The save moves the item to another collection. `row` is its row here. */
  | { readonly outcome: 'moves'; readonly row: ItemRow; readonly to: string }
  /** The save needs the stored ciphertext, which was not read. The client has to send the item again. */
  | { readonly outcome: 'later' }
  /** The row is to be written. */
  | { readonly outcome: 'saved'; readonly row: ItemRow };

/** The collection that the client names. */
export function namedCollectionOf(
  { userUuid }: Pick<Saver, 'userUuid'>,
  { shared_vault_uuid: vault }: ClientItem,
): string {
  return typeof vault === 'string' ? vault.toLowerCase() : userUuid;
}

/**
 * `stored` is the row that holds the item's uuid on this server, in whichever collection. If a transfer brings the item here, it is
 * the row at the source. `incoming` then has the forwarding tombstone here, if there is one.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the order of the checks is what clients rely on.
export function save({
  saver,
  head,
  sent,
  stored,
  nowMicros,
  incoming,
}: {
  readonly saver: Saver;
  readonly head: Head;
  readonly sent: ClientItem;
  readonly stored: ItemRow | undefined;
  readonly nowMicros: number;
  readonly incoming?: { readonly replacing: ItemRow | undefined } | undefined;
}): SaveOutcome {
  if (!isUuid(sent.uuid)) return conflict(refusal('uuid_conflict', sent, saver.userUuid));
  const isHere =
    incoming !== undefined || (stored?.collection === saver.collection && !isForwardingTombstone(stored));
  const rowHere = isHere ? stored : undefined;
  const target = namedCollectionOf(saver, sent);
  const refused = access(saver, sent, rowHere);
  if (refused !== undefined) return conflict(refused);
  if (rowHere === undefined && (stored !== undefined || target !== saver.collection)) return notHere;
  const fingerprint = fingerprintOfSave(saver.sessionUuid, sent);
  // This holds even if the save names another collection. There it was saved, and the item has returned from there without a save.
  if (rowHere?.fingerprint.equals(fingerprint) && incoming === undefined) {
    return saver.legacy && !isWhole(rowHere) ? later : { outcome: 'repeat', row: rowHere };
  }
  if (rowHere !== undefined && !isBasedOn(rowHere, sent, saver.legacy)) {
    return conflict(syncConflict(rowHere, sent.uuid));
  }
  const defect = defectOf(sent, saver.contentLimitBytes);
  if (defect !== undefined) return conflict(refusal(defect, sent, saver.userUuid));
  const fields = fieldsOf(sent);
  const wrong =
    saver.vault && vaultDefect(vaultSaveOf(saver.vault, sent, rowHere, target === saver.collection));
  if (wrong !== undefined)
    return conflict(refusal(wrong as 'shared_vault_invalid_state', sent, saver.userUuid, rowHere));
  const isOfVault = fields.keySystemIdentifier !== null || (rowHere?.shared_vault_uuid ?? null) !== null;
  if (isOfVault && !knowsVaults(saver.snjsVersion)) {
    return conflict(refusal('shared_vault_snjs_version_error', sent, saver.userUuid, rowHere));
  }
  if (rowHere !== undefined && target !== saver.collection) {
    return isWhole(rowHere) ? { outcome: 'moves', row: rowHere, to: target } : later;
  }
  if (rowHere !== undefined && !isWhole(rowHere) && !fields.content && fields.deleted !== true) return later;
  const uuid = sent.uuid.toLowerCase();
  const row = savedRow({ saver, head, uuid, fields, fingerprint, rowHere, nowMicros });
  return { outcome: 'saved', row: incoming === undefined ? row : arrivedRowOf(row, incoming.replacing) };
}

function vaultSaveOf(
  vault: VaultRight,
  sent: ClientItem,
  rowHere: ItemRow | undefined,
  stays: boolean,
): VaultSave {
  return {
    operation: operationOf(sent, rowHere, stays),
    permission: vault.permission ?? 'read',
    isOwner: rowHere === undefined || vault.owns(rowHere.owner_uuid),
    contentTypes: [sent.content_type, rowHere?.content_type],
    isDeleted: sent.deleted === true || rowHere?.deleted === true,
  };
}

function operationOf(sent: ClientItem, rowHere: ItemRow | undefined, stays: boolean): VaultOperation {
  if (rowHere === undefined) return 'create';
  if (rowHere.shared_vault_uuid === null) return 'add';
  if (stays && rowHere.shared_vault_uuid === namedCollectionOf({ userUuid: '' }, sent)) return 'save';
  return isAbsent(sent.shared_vault_uuid) ? 'remove' : 'move';
}

const later: SaveOutcome = { outcome: 'later' };
const notHere: SaveOutcome = { outcome: 'notHere' };

function conflict(of: Conflict): SaveOutcome {
  const { server_item: serverItem } = of;
  return serverItem === undefined || isWhole(serverItem) ? { outcome: 'conflict', conflict: of } : later;
}

/** Checks 3 and 4. */
function access(saver: Saver, sent: ClientItem, rowHere: ItemRow | undefined): Conflict | undefined {
  const isMember = mayNameIn(saver, sent);
  const visible = isMember ? rowHere : undefined;
  if (saver.readOnly) return refusal('readonly_error', sent, saver.userUuid, visible);
  if (!isAbsent(sent.shared_vault_uuid) && !sent.key_system_identifier) {
    return refusal('shared_vault_invalid_state', sent, saver.userUuid, visible);
  }
  return isMember ? undefined : notMember(sent, saver.userUuid);
}

/** A user's own uuid names no vault. Such an item would leave its vault without the checks of a removal. */
function mayNameIn({ vault, collection }: Saver, sent: ClientItem): boolean {
  if (vault !== undefined) return vault.permission !== null;
  const { shared_vault_uuid: named } = sent;
  return typeof named !== 'string' || named.toLowerCase() !== collection;
}

/** The refusal is the same for a vault that does not exist, and reveals nothing of what a vault may contain. */
export const notMember = (sent: ClientItem, userUuid: string): Conflict =>
  refusal(
    !isAbsent(sent.shared_vault_uuid) && !sent.key_system_identifier
      ? 'shared_vault_invalid_state'
      : 'shared_vault_not_member_error',
    sent,
    userUuid,
  );

/** How far `updated_at` alone may be from the stored time, in microseconds: clients keep it in milliseconds. */
const isoToleranceMicros = 1_000;
const legacyIsoToleranceMicros = 1_000_000;

/**
 * The exact-timestamp rule (docs/protocol/sync.md, "The exact-timestamp rule"). A timestamp of 0 is a value: "never
 * synced".
 */
function isBasedOn(stored: ItemRow, sent: ClientItem, legacy: boolean): boolean {
  if (!isAbsent(sent.updated_at_timestamp)) {
    if (legacy && sent.updated_at_timestamp === 0) return true;
    return sent.updated_at_timestamp === stored.updated_at_timestamp;
  }
  const sentMicros = parseMicros(sent.updated_at) ?? 0;
  if (legacy && sentMicros === 0) return true;
  const tolerance = legacy ? legacyIsoToleranceMicros : isoToleranceMicros;
  return Math.abs(sentMicros - stored.updated_at_timestamp) < tolerance;
}
