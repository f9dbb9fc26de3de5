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
import { MailSettings } from '../settings.ts';
import { Mailer, type Queued, type QueueRefusal, type RecallResult, type SealedMail } from './contract.ts';
import { countToOthers, senderPlan } from './daily-limit.ts';
import { startLane } from './lanes.ts';
import { tellOutcome } from './outcome.ts';
import { asMail, keyOf, mailTable, newRow, queueSlice, writeMail } from './queue-table.ts';
import { isConfigured } from './relays.ts';
import { rulesOf } from './sources.ts';

/** An hour: whoever retries is a timer, or a person who is told. */
const fullRetryMs = 3_600_000;

const mailPlan = (view: View, id: string) => ({ mail: keys(mailTable, [keyOf(view, id)]) });
const queuePlan = (view: View, { id, userUuid }: SealedMail) =>
  ({
    ...mailPlan(view, id),
    ...senderPlan(view, userUuid),
  }) satisfies Record<string, AnyPlan>;
type QueueReads = PlanResults<ReturnType<typeof queuePlan>>;

export const queueCommand = command({
  ...Mailer.commands.queue,
  creates: true,
  reads: queuePlan,
  turn: (turn, mail, reads) => queue(turn, mail, reads),
});

export const queueTell = tell({
  ...Mailer.tells.queue,
  creates: true,
  reads: queuePlan,
  turn: (turn, mail, _sender, reads) => {
    const queued = queue(turn, mail, reads);
    if (queued.queued) return;
    const { id, listener } = mail;
    tellOutcome(turn, listener, {
      ...{ id, outcome: 'refused', attempts: 0, failure: null, refusal: queued.why },
      nextAttemptAtMs: turn.nowMs + queued.retryAfterMs,
    });
  },
});

function queue(turn: Turn, mail: SealedMail, reads: QueueReads): Queued {
  const before = asMail(reads.mail.get(keyOf(turn, mail.id)));
  if (before !== undefined) return { queued: true };
  if (!isConfigured(turn)) return refusal('not-configured', fullRetryMs);
  if (isFull(turn, mail)) return refusal('full', fullRetryMs);
  if (rulesOf(mail.source).isToOthers) {
    const retryAfterMs = countToOthers(turn, mail.userUuid, reads);
    if (retryAfterMs !== undefined) return refusal('daily-limit', retryAfterMs);
  }
  writeMail(turn, undefined, newRow(turn, mail));
  startLane(turn);
  return { queued: true };
}

const refusal = (why: QueueRefusal, retryAfterMs: number): Queued => ({ queued: false, why, retryAfterMs });

function isFull(turn: Turn, { content }: SealedMail): boolean {
  const { counts, contentBytes } = turn.get(queueSlice);
  const { limits } = turn.use(MailSettings);
  const mails = counts.urgent + counts.ordinary + counts.waiting + counts.leased + counts.dead;
  return mails >= limits.mails || contentBytes + content.byteLength > limits.contentBytes;
}

export const recallCommand = command({
  ...Mailer.commands.recall,
  creates: true,
  reads: (view, { id }) => mailPlan(view, id),
  turn: (turn, { id }, reads) => ({ result: recall(turn, id, reads) }),
});

export const recallTell = tell({
  ...Mailer.tells.recall,
  creates: true,
  reads: (view, { id }) => mailPlan(view, id),
  turn: (turn, { id }, _sender, reads) => {
    recall(turn, id, reads);
  },
});

function recall(turn: Turn, id: string, { mail }: PlanResults<ReturnType<typeof mailPlan>>): RecallResult {
  const before = asMail(mail.get(keyOf(turn, id)));
  if (before === undefined) {
    const nothing = { id, source: 'other', userUuid: '', content: new Uint8Array() } as const;
    writeMail(turn, undefined, { ...newRow(turn, nothing), place: 'recalled' });
    return 'recalled';
  }
  if (before.place === 'accepted' || before.place === 'recalled') return before.place;
  // What is dead and may have arrived cannot be called back.
  if (before.place === 'leased' || before.handed_over) return 'in-flight';
  writeMail(turn, before, { ...before, place: 'recalled', listener: null });
  return before.place === 'dead' ? 'dead' : 'recalled';
}
