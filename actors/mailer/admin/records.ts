/** Actions of administrators on one mail of the queue: to try it again, or to discard it. */
import { command, keys, type PlanResults, type View } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { isExpired } from '../attempt.ts';
import { auditOperation } from '../log-table.ts';
import { MailAdministration } from '../operator-contract.ts';
import { listenerOf, tellOutcome } from '../outcome.ts';
import { asMail, isReady, type MailRow, mailKey, mailTable, readyState, writeMail } from '../queue-table.ts';
import { notInDirectMode } from '../relays.ts';
import { startWorker } from '../workers.ts';
import { recordOf } from './pages.ts';

const notFound = refuse.notFound('There is no such record in the queue.', 'queue-record-not-found');
const leased = refuse.conflict('This mail is being sent.', 'queue-record-leased');
const ineligible = refuse.conflict('This mail cannot be tried again.', 'queue-record-ineligible');

const plan = (view: View, { id }: { readonly id: string }) => ({
  mail: keys(mailTable, [mailKey(view, id)]),
});

/** Mails that are accepted or recalled are not shown. */
function mailNamed(
  view: View,
  id: string,
  { mail }: PlanResults<ReturnType<typeof plan>>,
): MailRow | undefined {
  const row = asMail(mail.get(mailKey(view, id)));
  return row?.state === 'accepted' || row?.state === 'recalled' ? undefined : row;
}

export const retry = command(MailAdministration.commands.retry, {
  creates: true,
  repeat: 'recorded',
  reads: plan,
  turn: (turn, { by, id }, reads) => {
    const before = mailNamed(turn, id, reads);
    const refused = notInDirectMode(turn);
    if (refused !== undefined) return refused;
    if (before === undefined) return notFound;
    if (before.state === 'leased') return leased;
    const isEligible = before.state === 'dead' || before.state === 'waiting';
    if (!isEligible || before.content === null || isExpired(turn, before)) return ineligible;
    const mail = writeMail(turn, before, {
      ...before,
      state: readyState(before.source),
      attempts: 0,
      handed_over: false,
      next_attempt_at: turn.nowMs,
    });
    auditOperation(turn, by, 'retry', id);
    startWorker(turn);
    return { ok: { record: recordOf(mail) } };
  },
});

export const discard = command(MailAdministration.commands.discard, {
  creates: true,
  repeat: 'recorded',
  reads: plan,
  turn: (turn, { by, id }, reads) => {
    const before = mailNamed(turn, id, reads);
    const refused = notInDirectMode(turn);
    if (refused !== undefined) return refused;
    if (before === undefined) return notFound;
    if (before.state === 'leased') return leased;
    writeMail(turn, before, { ...before, state: 'recalled', next_attempt_at: null });
    auditOperation(turn, by, 'discard', id);
    if (isReady(before)) {
      const { attempts, message_id } = before;
      // The result of the last attempt does not explain this end: no relay has the mail.
      tellOutcome(turn, listenerOf(before.listener), {
        id,
        outcome: 'dead',
        attempts,
        messageId: message_id ?? undefined,
      });
    }
    return { ok: {} };
  },
});
