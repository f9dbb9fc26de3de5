/**
 * Saving one item (docs/protocol/sync.md, "Saving an item"): the checks in their order, then the row that results.
 * Pure: the caller brings the stored row and the head, and writes what comes back.
 *
 * 1. uuid has the form of one                  else uuid_conflict
 * 2. (the caller brought the stored row, no matter whose it is)
 * 3. the session may write                     else readonly_error
 * 4. a named vault is one of the user's        else shared_vault_*; before the time check, which would show the
 *                                              stored ciphertext to a non-member
 * 5. a stored row is of this collection        else uuid_conflict, without the stored row
 * 6. not a repeat of the last accepted save    else saved, and nothing is written
 * 7. based on exactly the stored version       else sync_conflict with the stored row
 * 8. fields are of their types and limits      else content_type_error, content_error, uuid_error
 * 9. a client that knows vaults, if they touch it   else shared_vault_snjs_version_error
 *
 * A mismatch is always the client's to merge: nothing here compares contents or lets the later time win.
 */
import { type Conflict, refusal, syncConflict } from './conflicts.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Head } from './head.ts';
import { defectOf, fieldsOf, isAbsent, isUuid } from './incoming.ts';
import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { parseMicros } from './micros.ts';
import { savedRow } from './saved-row.ts';
import { knowsVaults } from './snjs-version.ts';

/** Who saves, into which collection, by which rules. */
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
  /** How long after a revision of an item the next one is made. */
  readonly revisionPauseMs: number;
}

export type Outcome =
  | { readonly outcome: 'conflict'; readonly conflict: Conflict }
  /** Saved before: this is its row, and there is nothing to write. */
  | { readonly outcome: 'repeat'; readonly row: ItemRow }
  /** Its stored ciphertext is needed and was not read. */
  | { readonly outcome: 'later' }
  /** To be written. */
  | { readonly outcome: 'saved'; readonly row: ItemRow };

/** `stored` is the row that holds the item's uuid on this server, in whichever collection. */
export function save(
  saver: Saver,
  head: Head,
  sent: ClientItem,
  stored: ItemRow | undefined,
  nowMicros: number,
): Outcome {
  if (!isUuid(sent.uuid)) return conflict(refusal('uuid_conflict', sent, saver.userUuid));
  const mine = stored?.collection === saver.collection ? stored : undefined;
  const refused = access(saver, sent, mine);
  if (refused !== undefined) return conflict(refused);
  if (stored !== undefined && mine === undefined) {
    return conflict(refusal('uuid_conflict', sent, saver.userUuid));
  }
  const fingerprint = fingerprintOf(saver.sessionUuid, sent);
  if (mine?.fingerprint.equals(fingerprint)) {
    return saver.legacy && !isWhole(mine) ? later : { outcome: 'repeat', row: mine };
  }
  if (mine !== undefined && !isBasedOn(mine, sent, saver.legacy)) {
    return conflict(syncConflict(mine, sent.uuid));
  }
  const defect = defectOf(sent, saver.contentLimitBytes);
  if (defect !== undefined) return conflict(refusal(defect, sent, saver.userUuid));
  const fields = fieldsOf(sent);
  if (mine !== undefined && !isWhole(mine) && !fields.content && fields.deleted !== true) return later;
  if (fields.keySystemIdentifier !== null && !knowsVaults(saver.snjsVersion)) {
    return conflict(refusal('shared_vault_snjs_version_error', sent, saver.userUuid, mine));
  }
  const uuid = sent.uuid.toLowerCase();
  return { outcome: 'saved', row: savedRow({ saver, head, uuid, fields, fingerprint, mine, nowMicros }) };
}

const later: Outcome = { outcome: 'later' };

/** Rows beyond what a turn reads come without ciphertext. */
export const isWhole = ({ content }: { readonly content?: unknown }): boolean => content !== undefined;

function conflict(of: Conflict): Outcome {
  const { server_item: given } = of;
  return given === undefined || isWhole(given) ? { outcome: 'conflict', conflict: of } : later;
}

/** Checks 3 and 4. There are no vaults yet, so nobody is a member of one. */
function access(saver: Saver, sent: ClientItem, mine: ItemRow | undefined): Conflict | undefined {
  if (saver.readOnly) return refusal('readonly_error', sent, saver.userUuid, mine);
  if (isAbsent(sent.shared_vault_uuid)) return undefined;
  if (!sent.key_system_identifier) return refusal('shared_vault_invalid_state', sent, saver.userUuid, mine);
  return refusal('shared_vault_not_member_error', sent, saver.userUuid);
}

/** How far `updated_at` alone may be from the stored time, in microseconds: clients keep it in milliseconds. */
const isoToleranceMicros = 1_000;
const legacyIsoToleranceMicros = 1_000_000;

/**
 * The exact-timestamp rule (docs/protocol/sync.md, "The exact-timestamp rule"). A timestamp of 0 is a value: "never
 * synced".
 */
export function isBasedOn(stored: ItemRow, sent: ClientItem, legacy: boolean): boolean {
  if (!isAbsent(sent.updated_at_timestamp)) {
    if (legacy && sent.updated_at_timestamp === 0) return true;
    return sent.updated_at_timestamp === stored.updated_at_timestamp;
  }
  const sentMicros = parseMicros(sent.updated_at) ?? 0;
  if (legacy && sentMicros === 0) return true;
  const tolerance = legacy ? legacyIsoToleranceMicros : isoToleranceMicros;
  return Math.abs(sentMicros - stored.updated_at_timestamp) < tolerance;
}
