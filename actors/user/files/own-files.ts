/** A user as an owner of files. Its quota is in two of its settings, which clients read. */
import type { Turn, View } from '../../../runtime/command.ts';
import type { Owner } from '../../files/owner.ts';
import type { Quota } from '../../files/quota.ts';
import { FileSettings } from '../../files/settings.ts';
import type { Cleanup } from '../../files/state.ts';
import { putSetting, settingValue } from '../settings/stored.ts';
import { Files } from './contract.ts';
import { heldForVaults } from './vault-holds.ts';

export const cleanup: Cleanup = { timer: Files.timers.cleanUpFiles, remove: Files.jobs.removeBlobs };

export function ownFiles(turn: Turn): Owner {
  const { fileBytesMax } = turn.use(FileSettings);
  return { cleanup, quota: quotaOf(turn), fileBytesMax, garbageBytesMax: limitBytesOf(turn) };
}

function quotaOf(turn: Turn): Quota {
  return {
    hasRoom: ({ uploadUuid, bytes }, othersBytes) =>
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

const usedBytesOf = (view: View): number => Number(settingValue(view, 'FILE_UPLOAD_BYTES_USED'));
