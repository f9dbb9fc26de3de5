/**
 * How many recalled mails of each account are remembered. A recalled mail stays for a week, as it may not have arrived yet, so
 * an account that makes and recalls mails would otherwise add rows without end. What finds no room is not remembered: should
 * such a mail arrive late, it is sent, and its own account alone has brought that about.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { MailSettings, mailsMax } from './settings.ts';

/** By the account that they were recalled for. None is 0. */
export const recalledMap = sliceMap<number>({
  family: 'recalled-mails',
  format: 1,
  entriesMax: mailsMax,
  schema: z.int(),
});

export function mayRememberRecalled(turn: Turn, userUuid: string): boolean {
  const mails = turn.entry(recalledMap, userUuid);
  if (mails === undefined) return turn.entries(recalledMap).size < mailsMax;
  return mails < turn.use(MailSettings).limits.recalledPerAccount;
}

export function countRecalled(turn: Turn, userUuid: string, by: 1 | -1): void {
  const mails = (turn.entry(recalledMap, userUuid) ?? 0) + by;
  if (mails > 0) turn.setEntry(recalledMap, userUuid, mails);
  else turn.removeEntry(recalledMap, userUuid);
}
