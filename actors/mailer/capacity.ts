/**
 * The capacity of the queue: a number of mails and a number of bytes, as long as the disk has room. A part of it is reserved for mails
 * that a person waits for, such as a code to sign in with.
 */
import type { View } from '../../runtime/command.ts';
import { dependency } from '../../runtime/dependency.ts';
import { queueSlice } from './queue-table.ts';
import { MailSettings } from './settings.ts';
import { type MailSource, rulesOf } from './sources.ts';

const ordinaryShare = 0.9;
/** Bulk mail is sent one at a time, so many of them would fill the queue for long. */
const bulkShare = 0.25;
/** Enough for hundreds of codes. */
const urgentBytes = 1_048_576;

/** Whether the queue has no room now for a mail of so many bytes. */
export function isMailQueueFull(view: View, source: MailSource, bytes: number): boolean {
  const { counts, contentBytes } = view.get(queueSlice);
  const { limits } = view.use(MailSettings);
  const { isUrgent, isBulk = false } = rulesOf(source);
  const mails = counts.urgent + counts.ordinary + counts.bulk + counts.waiting + counts.leased + counts.dead;
  if (view.use(MailDiskSpace).isLow) return true;
  if (isBulk && counts.bulk >= bulkShare * limits.mails) return true;
  if (mails >= (isUrgent ? 1 : ordinaryShare) * limits.mails) return true;
  return contentBytes + bytes > bytesFor(view, source);
}

/** Whether even an empty queue has no room for a mail of so many bytes. */
export const isTooLarge = (view: View, source: MailSource, bytes: number): boolean =>
  bytes > Math.min(view.use(MailSettings).limits.mailBytes, bytesFor(view, source));

function bytesFor(view: View, source: MailSource): number {
  const { contentBytes } = view.use(MailSettings).limits;
  const reserved = Math.min(urgentBytes, (1 - ordinaryShare) * contentBytes);
  return contentBytes - (rulesOf(source).isUrgent ? 0 : reserved);
}

/** Whether the disk of the queue has room for more mail, if this process can know. Turns read it, so it answers at once. */
export interface MailDiskSpace {
  readonly isLow: boolean;
}
export const MailDiskSpace = dependency<MailDiskSpace>('the disk space for mail');

/** Used for a database on another machine, which itself reports when it is full. */
export const unknownDiskSpace: MailDiskSpace = { isLow: false };
