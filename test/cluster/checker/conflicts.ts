/**
 * Checks conflicts. A conflict is right if another write took effect above the version on which this one was based.
 * In a shared vault it is also right if the saver may have lacked permission, or if the item may have moved
 * meanwhile.
 */
import type { Conflict, Timed, Write } from '../history.ts';
import { type Call, walk } from './calls.ts';
import type { Lineage } from './lineage.ts';
import type { Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

interface KnownWrites {
  readonly lineage: Lineage;
  readonly memberships: Memberships;
}

export function checkConflicts(entries: readonly Timed[], known: KnownWrites, report: Report): void {
  for (const { at, entry, call } of walk(entries)) {
    if (entry.event !== 'answered' || call === undefined) continue;
    for (const conflict of entry.conflicts) {
      const write = call.writes.find((each) => each.uuid === conflict.uuid);
      if (write === undefined || isReal(conflict, write, { call, at }, known)) continue;
      const { type, stored } = conflict;
      const against = stored === undefined ? 'nothing' : `${stored.nonce} at ${stored.version}`;
      report('false-conflict', call.user, `${type} of ${write.nonce} on ${write.base} against ${against}`);
    }
  }
}

function isReal(
  { type, stored }: Conflict,
  { uuid, base, nonce, vault }: Write,
  { call: { user, firstSent }, at }: { readonly call: Call; readonly at: number },
  { lineage, memberships }: KnownWrites,
): boolean {
  const mayHaveMoved = lineage.mayHaveMoved(uuid, vault);
  switch (type) {
    case 'sync_conflict':
      return stored !== undefined && stored.version > base && stored.nonce !== nonce;
    case 'uuid_conflict':
    case 'shared_vault_invalid_state':
      return mayHaveMoved;
    case 'shared_vault_not_member_error':
      return mayHaveMoved || (vault !== undefined && !memberships.surelyBelongs(user, vault, firstSent, at));
    case 'shared_vault_insufficient_permissions_error':
      return mayHaveMoved || (vault !== undefined && !memberships.surelyWrites(user, vault, firstSent, at));
    default:
      return false;
  }
}
