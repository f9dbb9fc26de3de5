/**
 * Asking the mail queue to give back mails before a request changes or removes what they are of:
 *
 *     mark     turn: the reminders whose mails are asked back; nothing of the account is claimed for a while
 *     ask      the queue, outside any turn
 *     apply    turn: what the queue gave back is queued here again; what it has not, it is sending or has sent
 *
 * The queue tells of a mail that it gave back, too. So a request that dies in between leaves nothing behind that nobody
 * comes back to.
 */
import type { Turn } from '../../../runtime/command.ts';
import type { Actors } from '../../../runtime/handles.ts';
import type { RecallResult } from '../../mailer/contract.ts';
import { askToRecall } from '../../mailer/outgoing.ts';
import { holdClaims } from './delivery-config.ts';
import { mailIdOf } from './messages.ts';
import {
  backInQueue,
  isMailQueued,
  type PublishedReminder,
  publishedReminderMap,
} from './published-reminder.ts';
import { acceptedNow, armNext, put } from './watch.ts';

/** Longer than a request takes. After it the timer asks again. */
const holdMs = 30_000;

interface AskedBack {
  readonly id: string;
  readonly round: number;
  readonly mailId: string;
}

export type Recall = AskedBack & { readonly result: RecallResult };

export function markRecalled(turn: Turn, reminders: readonly PublishedReminder[]): readonly AskedBack[] {
  const mailed = reminders.filter(isMailQueued);
  if (mailed.length === 0) return [];
  for (const each of mailed) put(turn, { ...each, isRecalled: true, nextAtMs: turn.nowMs + holdMs });
  holdClaims(turn, turn.nowMs + holdMs);
  armNext(turn);
  return mailed.map((each) => ({ id: each.id, round: each.round, mailId: mailIdOf(each) }));
}

export const askBack = (
  actors: Actors,
  userUuid: string,
  mails: readonly AskedBack[],
): Promise<readonly Recall[]> =>
  Promise.all(
    mails.map(async (mail) => ({
      ...mail,
      result: await askToRecall(actors, { id: mail.mailId, userUuid }),
    })),
  );

/** To be followed by `armNext`. */
export function applyAnswers(turn: Turn, recalls: readonly Recall[]): void {
  if (recalls.length > 0) holdClaims(turn, 0);
  for (const { id, round, result } of recalls) {
    const reminder = turn.entry(publishedReminderMap, id);
    if (reminder === undefined || reminder.round !== round || !isMailQueued(reminder)) continue;
    put(turn, answered(turn, reminder, result));
  }
}

function answered(turn: Turn, reminder: PublishedReminder, result: RecallResult): PublishedReminder {
  switch (result) {
    case 'recalled':
    case 'dead':
      return backInQueue(reminder, Math.max(reminder.dueAtMs, turn.nowMs));
    case 'accepted':
      return acceptedNow(turn, reminder);
    case 'in-flight':
      return { ...reminder, isRecalled: false };
  }
}
