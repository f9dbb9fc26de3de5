/** Targets that fail. */
import { BackupError } from '../../process/backup/error.ts';
import type { BackupTarget } from '../../process/backup/target.ts';

const failure = () => new BackupError('unavailable', 'The folder of backups is full.');

/** Takes nothing more. */
export const fullTarget = (target: BackupTarget): BackupTarget => ({
  ...passing(target),
  put: () => Promise.reject(failure()),
});

/** Ends with its call after the first `calls`, as if the process had died: nothing of that call or a later one happens. */
export function dyingTarget(target: BackupTarget, calls: number): BackupTarget {
  let left = calls;
  const spend = () => {
    left -= 1;
    if (left < 0) throw failure();
  };
  return {
    ...passing(target),
    async put(name, bytes) {
      spend();
      await target.put(name, bytes);
    },
    async remove(names) {
      if (names.length > 0) spend();
      await target.remove(names);
    },
  };
}

/** Tells of each object before it is written. */
export const watchedTarget = (target: BackupTarget, onPut: () => Promise<void>): BackupTarget => ({
  ...passing(target),
  async put(name, bytes) {
    await onPut();
    await target.put(name, bytes);
  },
});

const passing = (target: BackupTarget): BackupTarget => ({
  put: (name, bytes) => target.put(name, bytes),
  remove: (names) => target.remove(names),
  get: (name) => target.get(name),
  list: (prefix) => target.list(prefix),
  close: () => target.close(),
});
