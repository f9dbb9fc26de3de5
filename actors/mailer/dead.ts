/**
 * The dead mails of each account, which are limited in number. Otherwise an account whose mails are refused could fill the queue with
 * dead mails, and no other mail would be taken any more. The oldest gives way to the newest.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { MailSettings, mailsMax } from './settings.ts';

const deadSchema = z.object({ id: z.string(), size: z.int() });
export type DeadMail = z.infer<typeof deadSchema>;

/** Keyed by the account that they were sent for, the oldest first. */
export const deadMap = sliceMap<readonly DeadMail[]>({
  family: 'dead-mails',
  // No entry is empty, so there are no more entries than mails.
  entriesMax: mailsMax,
  schema: z.array(deadSchema),
});

/** Remembers a dead mail. Returns the oldest ones of the account, which give way to it. */
export function rememberDead(turn: Turn, userUuid: string, { id, size }: DeadMail): readonly DeadMail[] {
  const { deadPerAccount } = turn.use(MailSettings).limits;
  const all = [...(turn.entry(deadMap, userUuid) ?? []), { id, size }];
  const surplus = Math.max(0, all.length - deadPerAccount);
  turn.setEntry(deadMap, userUuid, all.slice(surplus));
  return all.slice(0, surplus);
}

/** Called when a dead mail is removed or revived. */
export function forgetDead(turn: Turn, userUuid: string, id: string): void {
  const all = turn.entry(deadMap, userUuid) ?? [];
  const remaining = all.filter((each) => each.id !== id);
  if (remaining.length === all.length) return;
  if (remaining.length === 0) turn.removeEntry(deadMap, userUuid);
  else turn.setEntry(deadMap, userUuid, remaining);
}
