/** Taking mails into the queue and out of it again. */
import {
  type AnyPlan,
  command,
  keys,
  type PlanResults,
  type Turn,
  tell,
  type View,
} from '../../runtime/command.ts';
import { isMailQueueFull, isTooLarge } from './capacity.ts';
import {
  Mailer,
  type QueuedMail,
  type QueueRefusal,
  type RecallResult,
  type SealedMail,
} from './contract.ts';
import { countMail, isStopped, senderPlan } from './daily-limit.ts';
import { tellOutcome, tellRecalled } from './outcome.ts';
import { asMail, mailKey, mailTable, newRow, tombstoneOf, writeMail } from './queue-table.ts';
import { mayRememberRecalled, noteUnwanted } from './recalled.ts';
import { isConfigured } from './relays.ts';
import type { MailSource } from './sources.ts';
import { startWorker } from './workers.ts';

/** After this, a timer of the caller sends the tell again. */
const retryMs = 3_600_000;
/** Shorter, because a person waits for the answer to `room`. */
const personRetryMs = 60_000;
/** More bytes than a sealed mail with a code or a token takes. Callers ask for no larger mail. */
const shortMailBytes = 4_096;

const mailPlan = (view: View, id: string) => ({ mail: keys(mailTable, [mailKey(view, id)]) });
const queuePlan = (view: View, mail: SealedMail) =>
  ({
    ...mailPlan(view, mail.id),
    ...senderPlan(view, mail),
  }) satisfies Record<string, AnyPlan>;
type QueueReads = PlanResults<ReturnType<typeof queuePlan>>;

export const queueCommand = command(Mailer.commands.queue, {
  creates: true,
  reads: queuePlan,
  turn: (turn, mail, reads) => queue(turn, mail, reads),
});

export const queueTell = tell(Mailer.tells.queue, {
  creates: true,
  reads: queuePlan,
  turn: (turn, mail, _sender, reads) => {
    const before = asMail(reads.mail.get(mailKey(turn, mail.id)));
    if (before?.state === 'recalled') return tellRecalled(turn, newRow(turn, mail));
    const queued = queue(turn, mail, reads);
    if (queued.queued) return;
    const { id, listener } = mail;
    tellOutcome(turn, listener, {
      id,
      outcome: 'refused',
      refusal: queued.why,
      nextAttemptAtMs: turn.nowMs + queued.retryAfterMs,
    });
  },
});

function queue(turn: Turn, mail: SealedMail, reads: QueueReads): QueuedMail {
  const before = asMail(reads.mail.get(mailKey(turn, mail.id)));
  if (before !== undefined) return { queued: true };
  const bytes = mail.content.byteLength;
  // There will never be room for this mail. An author that is told "full" would try again for ever.
  if (isTooLarge(turn, mail.source, bytes)) return drop(turn, mail);
  const why = refusalNow(turn, mail.source, bytes);
  if (why !== undefined) return refusal(why, retryMs);
  if (isStopped(turn, mail, reads)) return drop(turn, mail);
  const retryAfterMs = countMail(turn, mail, reads);
  if (retryAfterMs !== undefined) return refusal('daily-limit', retryAfterMs);
  writeMail(turn, undefined, newRow(turn, mail));
  startWorker(turn);
  return { queued: true };
}

/** Its mailbox has stopped such mail, or it is too large. Its author is told that no relay accepts it. */
function drop(turn: Turn, { id, listener }: SealedMail): QueuedMail {
  tellOutcome(turn, listener, { id, outcome: 'dead', failure: 'rejected' });
  return { queued: true };
}

const refusal = (why: QueueRefusal, retryAfterMs: number): QueuedMail => ({
  queued: false,
  why,
  retryAfterMs,
});

/** Why the queue would refuse such a mail now; undefined if it would not. */
function refusalNow(view: View, source: MailSource, bytes: number): QueueRefusal | undefined {
  if (!isConfigured(view)) return 'not-configured';
  return isMailQueueFull(view, source, bytes) ? 'full' : undefined;
}

export const checkCapacityCommand = command(Mailer.commands.room, {
  creates: true,
  turn: (turn, { source }): QueuedMail => {
    const why = refusalNow(turn, source, shortMailBytes);
    return why === undefined ? { queued: true } : refusal(why, personRetryMs);
  },
});

export const recallCommand = command(Mailer.commands.recall, {
  creates: true,
  reads: (view, { id }) => mailPlan(view, id),
  turn: (turn, mail, reads) => ({ result: recall(turn, mail, reads) }),
});

export const recallTell = tell(Mailer.tells.recall, {
  creates: true,
  reads: (view, { id }) => mailPlan(view, id),
  turn: (turn, mail, _sender, reads) => {
    const { id } = mail;
    recall(turn, mail, reads);
    // No caller waits for an answer, so none mistakes the mail for one that will be sent.
    if (asMail(reads.mail.get(mailKey(turn, id)))?.state === 'leased') noteUnwanted(turn, id);
  },
});

function recall(
  turn: Turn,
  recalled: Pick<SealedMail, 'id' | 'userUuid'>,
  { mail }: PlanResults<ReturnType<typeof mailPlan>>,
): RecallResult {
  const before = asMail(mail.get(mailKey(turn, recalled.id)));
  if (before === undefined) {
    // The mail may never come.
    if (!mayRememberRecalled(turn, recalled.userUuid)) return 'in-flight';
    writeMail(turn, undefined, tombstoneOf(turn, recalled));
    return 'recalled';
  }
  if (before.state === 'accepted' || before.state === 'recalled') return before.state;
  if (before.state === 'leased') return 'in-flight';
  if (before.handed_over) {
    // A dead mail that may have arrived cannot be recalled. But nobody can send it again, and its content is gone.
    if (before.content !== null) writeMail(turn, before, { ...before, content: null });
    return 'in-flight';
  }
  writeMail(turn, before, { ...before, state: 'recalled', listener: null });
  if (before.state === 'dead') return 'dead';
  tellRecalled(turn, before);
  return 'recalled';
}
