/**
 * Whether the disk of the embedded database has space for mail. The last known state counts, so that mail does not wait for a
 * slow disk. An unreadable disk is no reason to refuse mail.
 */
import { statfs } from 'node:fs/promises';
import type { MailDiskSpace } from '../actors/mailer/capacity.ts';
import type { Clock } from '../runtime/clock.ts';

/** The most that the queue may hold. */
const leastFreeBytes = 64 * 1_024 * 1_024;
const cacheMs = 5_000;

export function watchMailDiskSpace(
  path: string,
  clock: Pick<Clock, 'monotonicMs'>,
  freeBytesAt = freeBytesOf,
): MailDiskSpace {
  let isLow = false;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let isChecking = false;

  async function check(): Promise<void> {
    isChecking = true;
    checkedAtMs = clock.monotonicMs();
    try {
      isLow = (await freeBytesAt(path)) < leastFreeBytes;
    } catch {
      isLow = false;
    }
    isChecking = false;
  }

  void check();
  return {
    get isLow() {
      if (!isChecking && clock.monotonicMs() - checkedAtMs >= cacheMs) void check();
      return isLow;
    },
  };
}

async function freeBytesOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
