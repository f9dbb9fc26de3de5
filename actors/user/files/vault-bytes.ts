/**
 * The share of an owner's quota that the files of their vaults take.
 *
 *     hold     asked before an upload in the vault goes on; the bytes count from then on
 *     told     in the commit of the vault that changes its files: their total, and the uploads that hold nothing any more
 *
 * The vault tells a total, not a difference, and tells come in no order. So each byte counts once, after any repeat and delay,
 * and the quota never shows less than there is. A hold that nobody ends ends by itself.
 */
import { z } from 'zod';
import { command, type Turn, tell } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { noSpace } from '../../files/owner.ts';
import { heldBytes } from '../../files/uploads.ts';
import { type Refused, refuse } from '../../reply.ts';
import { membershipsMax } from '../../vault/settings.ts';
import { isActive } from '../profile.ts';
import { Files } from './contract.ts';
import { heldFor, heldForVault, holdsMax, limitBytesOf, ownFiles, vaultHoldMap } from './own-files.ts';

const emptyMax = 500;
/** For one other member. Clients have one or a few. */
const memberHoldsMax = 8;
/** The share of the quota that another member may hold before sending a byte of it. */
const memberShare = 3 / 4;

const tooManyHolds: Refused = refuse.tooMany('Too many uploads are open. Please finish some.', 60_000);

/** Keyed by the vault's uuid. */
export const vaultBytesMap = sliceMap<{
  readonly used: number;
  readonly at: number;
  readonly toldMs: number;
}>({
  family: 'vault-file-bytes',
  format: 1,
  entriesMax: membershipsMax + emptyMax,
  schema: z.object({ used: z.number(), at: z.number(), toldMs: z.number() }),
});

export const holdForVault = command(
  Files.commands.holdForVault,
  (turn, { holdUuid, by, bytes, endsAtMs, instead, givesUp }) => {
    if (!isActive(turn)) return noSpace;
    const before = turn.entry(vaultHoldMap, holdUuid);
    if (before !== undefined && before.bytes >= bytes && before.endsAtMs >= endsAtMs) return { ok: {} };
    const isNew = before === undefined;
    const refused = isNew
      ? refusalOfMember(turn, { by, bytes, but: [holdUuid, instead], givesUp })
      : undefined;
    if (refused !== undefined) return refused;
    const others = heldBytes(turn) - (instead === undefined ? 0 : heldForVault(turn, instead));
    if (!ownFiles(turn).quota.hasCapacity({ uploadUuid: holdUuid, bytes }, others)) return noSpace;
    if (isNew) forgetEnded(turn);
    if (isNew && turn.entries(vaultHoldMap).size >= holdsMax) return tooManyHolds;
    turn.setEntry(vaultHoldMap, holdUuid, {
      by: isNew ? by : before.by,
      bytes: Math.max(bytes, before?.bytes ?? 0),
      endsAtMs: Math.max(endsAtMs, before?.endsAtMs ?? 0),
    });
    return { ok: {} };
  },
);

interface NewHold {
  readonly by: string | undefined;
  readonly bytes: number;
  readonly but: readonly (string | undefined)[];
  readonly givesUp: string | undefined;
}

/** The owner may hold all of it. A member who sends more than they announced holds what they send. */
function refusalOfMember(turn: Turn, { by, bytes, but, givesUp }: NewHold): Refused | undefined {
  if (by === undefined || by === turn.self.id) return undefined;
  const held = heldFor(turn, by, but);
  const lasting = heldFor(turn, by, [...but, givesUp]);
  if (lasting.length >= memberHoldsMax) return tooManyHolds;
  const all = held.reduce((sum, each) => sum + each, bytes);
  return all > limitBytesOf(turn) * memberShare ? noSpace : undefined;
}

function forgetEnded(turn: Turn): void {
  for (const [uuid, { endsAtMs }] of turn.entries(vaultHoldMap)) {
    if (endsAtMs <= turn.nowMs) turn.removeEntry(vaultHoldMap, uuid);
  }
}

export const vaultFilesTell = tell(
  Files.tells.vaultFiles,
  (turn, { bytes, ended }, { address: { id: vaultUuid } }) => {
    if (!isActive(turn)) return;
    for (const uuid of ended) turn.removeEntry(vaultHoldMap, uuid);
    if (bytes !== null) note(turn, vaultUuid, bytes);
  },
);

function note(turn: Turn, vaultUuid: string, { used, at }: { used: number; at: number }): void {
  const before = turn.entry(vaultBytesMap, vaultUuid);
  if (before !== undefined && before.at >= at) return;
  const entries = turn.entries(vaultBytesMap);
  if (before === undefined && entries.size >= membershipsMax + emptyMax) forgetOldestEmpty(turn);
  turn.setEntry(vaultBytesMap, vaultUuid, { used, at, toldMs: turn.nowMs });
  ownFiles(turn).quota.grow(used - (before?.used ?? 0));
}

/** Forgets the vault without files that was emptied first. Tells about it that were late have arrived since. */
function forgetOldestEmpty(turn: Turn): void {
  const [oldest] = [...turn.entries(vaultBytesMap)]
    .filter(([, { used }]) => used === 0)
    .toSorted(([, a], [, b]) => a.toldMs - b.toldMs);
  if (oldest !== undefined) turn.removeEntry(vaultBytesMap, oldest[0]);
}
