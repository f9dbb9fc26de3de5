/**
 * How much the queue holds: so many mails, whatever their size, and so many bytes, as long as the disk has room. A part
 * of it is kept for what somebody waits for, such as a code to sign in with.
 */
import type { View } from '../../runtime/command.ts';
import { queueSlice } from './queue-table.ts';
import { MailRoom } from './room.ts';
import { MailSettings } from './settings.ts';
import { type MailSource, rulesOf } from './sources.ts';

const ordinaryShare = 0.9;

/** Whether a mail of so many bytes finds no room. */
export function isFull(view: View, source: MailSource, bytes: number): boolean {
  const { counts, contentBytes } = view.get(queueSlice);
  const { limits } = view.use(MailSettings);
  const share = rulesOf(source).isUrgent ? 1 : ordinaryShare;
  const mails = counts.urgent + counts.ordinary + counts.waiting + counts.leased + counts.dead;
  if (view.use(MailRoom).isLow) return true;
  return mails >= share * limits.mails || contentBytes + bytes > share * limits.contentBytes;
}
