/**
 * Asks the mail queue to give back mails, before a request changes or removes their reminders:
 *
 *     mark     turn: the reminders whose mails are asked back; the account claims nothing for a while
 *     ask      the queue, outside any turn
 *     apply    turn: a mail that the queue gave back is queued here again; any other is being sent, or was sent
 *
 * The queue also reports each mail that it gave back. So if the request dies in between, the reminders go on by themselves.
 */
import type { Turn } from '../../../runtime/command.ts';
import type { Actors } from '../../../runtime/handles.ts';
import type { RecallResult } from '../../mailer/contract.ts';
import { askToRecall } from '../../mailer/outgoing.ts';
import { holdClaims } from './delivery-config.ts';
import {
  backInQueue,
  isMailQueued,
  type PublishedReminder,
  publishedReminderMap,
} from './published-reminder.ts';
import { acceptedNow, armNext, mailIdOf, putReminder } from './watch.ts';

/** Longer than a request takes. After it the timer asks again. */
const holdMs = 30_000;

interface RecallRequest {
  readonly id: string;
  readonly round: number;
  readonly mailId: string;
}

export type Recall = RecallRequest & { readonly result: RecallResult };

export function markRecalled(turn: Turn, reminders: readonly PublishedReminder[]): readonly RecallRequest[] {
  const mailed = reminders.filter(isMailQueued);
  if (mailed.length === 0) return [];
  for (const each of mailed) putReminder(turn, { ...each, isRecalled: true, nextAtMs: turn.nowMs + holdMs });
  holdClaims(turn, turn.nowMs + holdMs);
  armNext(turn);
  return mailed.map((each) => ({ id: each.id, round: each.round, mailId: mailIdOf(each) }));
}

export const recallMail = (
  actors: Actors,
  userUuid: string,
  mails: readonly RecallRequest[],
): Promise<readonly Recall[]> =>
  Promise.all(
    mails.map(async (mail) => ({
      ...mail,
      result: await askToRecall(actors, { id: mail.mailId, userUuid }),
    })),
  );

/** Call `armNext` afterwards. */
export function applyAnswers(turn: Turn, recalls: readonly Recall[]): void {
  if (recalls.length > 0) holdClaims(turn, 0);
  for (const { id, round, result } of recalls) {
    const reminder = turn.entry(publishedReminderMap, id);
    if (reminder === undefined || reminder.round !== round || !isMailQueued(reminder)) continue;
    putReminder(turn, answered(turn, reminder, result));
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
