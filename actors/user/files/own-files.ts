/**
 * A user as the owner of files. Two settings, which clients read, hold the quota. Uploads in the user's shared vaults hold part
 * of it (`vault-bytes.ts`).
 */
import { z } from 'zod';
import type { ClockedView, Turn, View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import type { FileOwner, Quota } from '../../files/owner.ts';
import { FileSettings } from '../../files/settings.ts';
import type { Cleanup } from '../../files/state.ts';
import { putSetting, settingValue } from '../settings/stored.ts';
import { Files } from './contract.ts';

export const cleanup: Cleanup = { timer: Files.timers.cleanUpFiles, remove: Files.jobs.removeBlobs };

export function ownFiles(turn: Turn): FileOwner {
  const { fileBytesMax } = turn.use(FileSettings);
  return { cleanup, quota: quotaOf(turn), fileBytesMax, garbageBytesMax: limitBytesOf(turn) };
}

function quotaOf(turn: Turn): Quota {
  return {
    hasCapacity: ({ uploadUuid, bytes }, othersBytes) =>
      usedBytesOf(turn) + heldForVaults(turn, uploadUuid) + othersBytes + bytes <= limitBytesOf(turn),
    grow: (byBytes) =>
      putSetting(turn, 'FILE_UPLOAD_BYTES_USED', String(Math.max(0, usedBytesOf(turn) + byBytes))),
    release: () => undefined,
  };
}

export function limitBytesOf(view: View): number {
  const limit = Number(settingValue(view, 'FILE_UPLOAD_BYTES_LIMIT'));
  return limit < 0 ? Number.POSITIVE_INFINITY : limit;
}

export const usedBytesOf = (view: View): number => Number(settingValue(view, 'FILE_UPLOAD_BYTES_USED'));

/** For all vaults of an owner together. Each vault has fewer. */
export const holdsMax = 500;

/** Keyed by the uuid of the upload, or of the file that moves. */
export const vaultHoldMap = sliceMap<{
  readonly bytes: number;
  readonly endsAtMs: number;
  /** The member who began the upload. */
  readonly by?: string | undefined;
}>({
  family: 'vault-file-hold',
  format: 1,
  entriesMax: holdsMax,
  schema: z.object({ bytes: z.number(), endsAtMs: z.number(), by: z.string().optional() }),
});

export function heldForVault(view: ClockedView, uuid: string): number {
  const hold = view.entry(vaultHoldMap, uuid);
  return hold !== undefined && view.nowMs < hold.endsAtMs ? hold.bytes : 0;
}

/** The holds of one member, without those in `but`. */
export function heldFor(
  view: ClockedView,
  by: string,
  but: readonly (string | undefined)[],
): readonly number[] {
  return [...view.entries(vaultHoldMap)]
    .filter(([uuid, hold]) => hold.by === by && view.nowMs < hold.endsAtMs && !but.includes(uuid))
    .map(([, { bytes }]) => bytes);
}

/** The bytes of all holds but this one. */
function heldForVaults(view: ClockedView, but: string): number {
  let bytes = 0;
  for (const uuid of view.entries(vaultHoldMap).keys()) {
    if (uuid !== but) bytes += heldForVault(view, uuid);
  }
  return bytes;
}
