/**
 * Whether the disk of the embedded database has space for mail. The last known state counts, so that mail does not wait for a
 * slow disk. An unreadable disk is no reason to refuse mail.
 */
import { statfs } from 'node:fs/promises';
import type { MailRoom } from '../actors/mailer/capacity.ts';
import type { Clock } from '../runtime/clock.ts';

/** As much as the queue may hold. */
const leastFreeBytes = 64 * 1_024 * 1_024;
const keptMs = 5_000;

export function createMailRoom(
  path: string,
  clock: Pick<Clock, 'monotonicMs'>,
  freeBytesAt = freeBytesOf,
): MailRoom {
  let isLow = false;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;

  async function ask(): Promise<void> {
    isAsking = true;
    askedAtMs = clock.monotonicMs();
    try {
      isLow = (await freeBytesAt(path)) < leastFreeBytes;
    } catch {
      isLow = false;
    }
    isAsking = false;
  }

  void ask();
  return {
    get isLow() {
      if (!isAsking && clock.monotonicMs() - askedAtMs >= keptMs) void ask();
      return isLow;
    },
  };
}

async function freeBytesOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
