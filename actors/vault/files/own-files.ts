/**
 * A vault as an owner of files. They count in the quota of the user who owns the vault, so that user's actor has to grant room
 * before an upload holds anything:
 *
 *     vault                                    its owner
 *     an upload is to hold more
 *                -- holdForVault -->           counts from here on, if there is room
 *     noted as granted; the upload goes on
 *     closed or ended, in one commit:
 *                ~~ vaultFiles ~~>             holds nothing any more; the total of the vault's files counts
 *
 * A member may have only a few uploads open. A further upload replaces the member's oldest one in this vault that has no bytes
 * yet. The owner is asked again with that upload as `givesUp`, and it ends in the turn that opens the next. If something was
 * sent to it meanwhile, it stays and the next is refused. The owner counts the bytes of both until it is told that one has ended.
 * So a crash before that turn leaves the member with one upload too many, and never the owner with too many bytes.
 *
 * An upload never holds more than was granted to it. The row of the vault has the total. It changes in the commit that changes
 * the files, and its `updated_at` does not.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import type { FileOwner, Quota } from '../../files/owner.ts';
import { FileSettings } from '../../files/settings.ts';
import type { Cleanup } from '../../files/state.ts';
import { uploadsMax } from '../../files/uploads.ts';
import { Files } from '../../user/files/contract.ts';
import { nextChangeStamp } from '../state.ts';
import { type VaultRow, vaultTable } from '../tables.ts';
import { VaultFiles } from './contract.ts';

export const cleanup: Cleanup = {
  timer: VaultFiles.timers.cleanUpFiles,
  remove: VaultFiles.jobs.removeBlobs,
};

/** Keyed by the uuid of the upload. */
export const grantMap = sliceMap<{
  readonly bytes: number;
  readonly ownerUuid: string;
  /** The member who began the upload. */
  readonly by?: string | undefined;
}>({
  family: 'upload-grant',
  format: 1,
  entriesMax: uploadsMax + 1,
  schema: z.object({ bytes: z.number(), ownerUuid: z.string(), by: z.string().optional() }),
});

/** `vault` is absent once the vault has ended; then files can only be removed. */
export function vaultFiles(turn: Turn, vault?: VaultRow): FileOwner {
  const { fileBytesMax, accountBytesMax } = turn.use(FileSettings);
  const garbageBytesMax = accountBytesMax === 0 ? Number.POSITIVE_INFINITY : accountBytesMax;
  return { cleanup, quota: quotaOf(turn, vault), fileBytesMax, garbageBytesMax };
}

function quotaOf(turn: Turn, vault: VaultRow | undefined): Quota {
  return {
    hasCapacity: ({ uploadUuid, bytes }) => bytes <= (turn.entry(grantMap, uploadUuid)?.bytes ?? 0),
    grow: (byBytes, closed) => {
      if (closed !== undefined) turn.removeEntry(grantMap, closed);
      if (vault !== undefined) countBytes(turn, vault, byBytes, closed === undefined ? [] : [closed]);
    },
    release: (uploadUuid) => {
      const grant = turn.entry(grantMap, uploadUuid);
      if (grant === undefined) return;
      turn.removeEntry(grantMap, uploadUuid);
      releaseAt(turn, grant.ownerUuid, uploadUuid);
    },
  };
}

export function releaseAt(turn: Turn, ownerUuid: string, holdUuid: string): void {
  turn.tell(Files, ownerUuid).vaultFiles({ bytes: null, ended: [holdUuid] });
}

/** Call it once in a turn, at most: it starts from the row as the turn has read it. */
function countBytes(turn: Turn, vault: VaultRow, byBytes: number, ended: readonly string[]): void {
  const { position } = nextChangeStamp(turn);
  const used = vault.file_bytes + byBytes;
  turn.put(vaultTable, { ...vault, file_bytes: used, position });
  turn.tell(Files, vault.owner_uuid).vaultFiles({ bytes: { used, at: position }, ended });
}
