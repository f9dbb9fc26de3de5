/**
 * The recalls that the mailer remembers, a limited number for each account. It keeps a recall for a week, because the mail itself may
 * arrive later. Without a limit, an account that makes and recalls mails could add rows without end. A recall beyond the limit is
 * forgotten: if its mail arrives late, it is sent. That concerns only the account that caused it.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice, sliceMap } from '../../runtime/slice.ts';
import { MailSettings, mailsMax } from './settings.ts';

/** Keyed by account. An account without recalled mails has no entry. */
export const recalledMap = sliceMap<number>({
  family: 'recalled-mails',
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

/**
 * The ids of mails that their source has recalled while a worker was sending them, one for each worker at most. A relay that has the
 * mail keeps it. But no further attempt is made, and the content is removed once the result is known.
 */
export const unwantedSlice = slice<readonly string[]>({
  name: 'unwanted',
  schema: z.array(z.string()),
  initial: [],
});

export const isUnwanted = (turn: Turn, id: string): boolean => turn.get(unwantedSlice).includes(id);

export function noteUnwanted(turn: Turn, id: string): void {
  if (!isUnwanted(turn, id)) turn.set(unwantedSlice, [...turn.get(unwantedSlice), id]);
}

/** Call when no worker is sending the mail any more. */
export function forgetUnwanted(turn: Turn, id: string): void {
  if (!isUnwanted(turn, id)) return;
  turn.set(
    unwantedSlice,
    turn.get(unwantedSlice).filter((each) => each !== id),
  );
}
