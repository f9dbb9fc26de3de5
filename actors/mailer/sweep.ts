/** Removes, a batch at a time, mails that need not be remembered any more: the oldest are first in order. */
import { range, timer, type View } from '../../runtime/command.ts';
import { dayOf } from '../times.ts';
import { Mailer } from './contract.ts';
import { forgetMailboxes } from './daily-limit.ts';
import { asMail, type MailRow, mailTable, queueSlice, removeMail, sweepPauseMs } from './queue-table.ts';

const dayMs = 86_400_000;
/** Longer than an undelivered tell lives in the outbox, so nothing can be queued under the same id any more. */
const settledAgeMs = 7 * dayMs;
const deadMs = 30 * dayMs;
const batchRows = 250;

const oldest = (view: View, subset: 'dead' | 'over') =>
  range(mailTable, {
    after: 0,
    through: view.get(queueSlice).position,
    limit: batchRows,
    subset,
    columns: ['mailer', 'id', 'user_uuid', 'position', 'state', 'updated_at', 'size'],
  });

export const sweepTimer = timer(Mailer.timers.sweep, {
  reads: (view) => ({ dead: oldest(view, 'dead'), over: oldest(view, 'over') }),
  turn: (turn, _payload, { dead, over }) => {
    const removed = [
      ...mailsOf(dead.rows).filter(({ updated_at }) => turn.nowMs - updated_at >= deadMs),
      ...mailsOf(over.rows).filter(({ updated_at }) => turn.nowMs - updated_at >= settledAgeMs),
    ];
    for (const mail of removed) removeMail(turn, mail);
    const forgotten = forgetMailboxes(turn, dayOf(turn.nowMs), batchRows);
    const { counts } = turn.get(queueSlice);
    const isMore = removed.length + forgotten > 0;
    if (!isMore && counts.dead + counts.accepted + counts.recalled === 0) return;
    turn.arm(Mailer.timers.sweep, isMore ? turn.nowMs : turn.nowMs + sweepPauseMs, null);
  },
});

const mailsOf = (rows: readonly Parameters<typeof asMail>[0][]): readonly MailRow[] =>
  rows.map(asMail).filter((row) => row !== undefined);
