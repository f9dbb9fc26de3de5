/** A worker: the job that sends one mail after another (`attempt.ts` has its turns). */

import type { z } from 'zod';
import { type JobRun, job } from '../../runtime/command.ts';
import { contract } from '../../runtime/contract.ts';
import { ActorError, NotFoundError } from '../../runtime/errors.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import type { NamedAddress } from './address.ts';
import {
  conclude,
  endWorker,
  handOver,
  type LeasedMail,
  leasedPlan,
  leaseMs,
  readyPlan,
  recover,
  take,
} from './attempt.ts';
import { type Content, openContent } from './content.ts';
import { Mailer, mailAttachmentShape, type SealedMail } from './contract.ts';
import { listenerOf } from './outcome.ts';
import { type Attachment, type MailMessage, MailSender, type SendResult } from './sender.ts';
import { MailSettings } from './settings.ts';
import { unsubscribeLink, withLink } from './unsubscribe-link.ts';
import { runWorker } from './workers.ts';

/** A worker ends after this even if the queue never empties, as jobs have to end. */
const runMs = 300_000;
/** Shorter than the lease, so that no worker still sends when its lease ends. */
const attemptMs = leaseMs - 20_000;

export const deliverMailJob = job(Mailer.jobs.deliver, {
  timeoutMs: runMs + 2 * leaseMs,
  run: async (run, { worker }) => {
    const untilMs = run.nowMs + runMs;
    await run.turn({
      reads: (view) => leasedPlan(view, worker),
      turn: (turn, reads) => recover(turn, worker, reads),
    });
    const takeNext = () => run.turn({ reads: readyPlan, turn: (turn, reads) => take(turn, worker, reads) });
    let next = await takeNext();
    while (next !== undefined) {
      const isLast = run.nowMs >= untilMs;
      if (next !== 'again') next = await send(run, worker, next, isLast);
      else if (isLast) return run.finish({ turn: (turn) => runWorker(turn, worker) });
      else next = await takeNext();
    }
    return run.finish({ reads: readyPlan, turn: (turn, reads) => endWorker(turn, worker, reads) });
  },
});

/** Resolves to the worker's next mail. The commit that ends this attempt also takes that mail, which saves a commit. */
async function send(
  run: JobRun,
  worker: number,
  attempt: LeasedMail,
  isLast: boolean,
): Promise<LeasedMail | 'again' | undefined> {
  const result = await resultOf(run, worker, attempt);
  // A run that is stopped leaves its mail leased; the next run finds it.
  run.signal.throwIfAborted();
  return run.turn({
    reads: (view) => ({ ...leasedPlan(view, worker), ...readyPlan(view) }),
    turn: (turn, reads) => {
      const nextAttempt = conclude({ turn, worker, leased: attempt, result, reads });
      if (nextAttempt !== undefined) return nextAttempt;
      return isLast ? 'again' : take(turn, worker, reads);
    },
  });
}

function fromOf(run: JobRun, { source }: LeasedMail['mail'], relay: LeasedMail['relay']): NamedAddress {
  const { reminderFrom } = run.use(MailSettings);
  return (source === 'email-reminder' ? reminderFrom : undefined) ?? relay.from;
}

async function resultOf(run: JobRun, worker: number, attempt: LeasedMail): Promise<SendResult> {
  const { mail } = attempt;
  const owned = { id: mail.id, userUuid: mail.user_uuid };
  const content = openContent(run.use(UserSecrets), owned, mail.content);
  if (content === undefined) return { result: 'rejected', failure: 'provider' };
  const { attachment, ...message } = content;
  if (attachment === undefined) return sendContent(run, worker, attempt, message);
  const listener = listenerOf(mail.listener);
  const file = listener === undefined ? 'gone' : await collectAttachment(run, listener, attachment.filename);
  if (file === 'gone') return { result: 'rejected', failure: 'rejected' };
  if (file === 'unavailable') return { result: 'transient', failure: 'provider' };
  if (file !== 'too-large') {
    const result = await sendContent(run, worker, attempt, { ...message, attachment: file });
    if (result.result !== 'rejected') return result;
  }
  // Too large for this server, or perhaps for the relay, which gives no reason that could be relied on.
  const result = await sendContent(run, worker, attempt, { ...message, text: attachment.textWithout });
  return result.result === 'sent' ? { ...result, lacksAttachment: true } : result;
}

type Sendable = Omit<Content, 'attachment'> & Pick<MailMessage, 'attachment'>;

function sendContent(
  run: JobRun,
  worker: number,
  attempt: LeasedMail,
  content: Sendable,
): Promise<SendResult> {
  const { mail, relay, credential, startedAtMs } = attempt;
  const link = unsubscribeLink(run.use(MailSettings), run.use(SigninKeys), mail.source, content.recipient);
  const { message_id: messageId, created_at: dateMs } = mail;
  return run.use(MailSender).send({
    relay,
    credential,
    message: {
      from: fromOf(run, mail, relay),
      ...content,
      messageId,
      dateMs,
      text: withLink(content.text, link),
      unsubscribeLink: link,
    },
    handOver: () =>
      run.turn({
        reads: (view) => leasedPlan(view, worker),
        turn: (turn, reads) => handOver(turn, worker, reads),
      }),
    timeoutMs: Math.max(0, startedAtMs + attemptMs - run.nowMs),
    signal: run.signal,
  });
}

// --- the file of a mail --------------------------------------------------------------------------------------

// Its listener gives the file while the mail is being sent. One worker does so at a time (`workers.ts`).

/** Leaves most of the time of an attempt for the relay. */
const collectMs = 30_000;

/**
 *     too-large     the mail goes without it
 *     gone          there is none any more, so the mail is of no use
 *     unavailable   there may be one later
 */
type CollectedAttachment = Attachment | 'too-large' | 'gone' | 'unavailable';

async function collectAttachment(
  run: JobRun,
  listener: NonNullable<SealedMail['listener']>,
  filename: string,
): Promise<CollectedAttachment> {
  try {
    const pieces = await collect(run, listener);
    return typeof pieces === 'string' ? pieces : { filename, pieces };
  } catch (error) {
    if (error instanceof NotFoundError) return 'gone';
    if (error instanceof ActorError) return 'unavailable';
    throw error;
  }
}

async function collect(
  run: JobRun,
  { kind, id, key }: NonNullable<SealedMail['listener']>,
): Promise<readonly Buffer[] | 'too-large' | 'gone'> {
  const { name, commands } = contract({ name: kind, commands: { mailAttachment: mailAttachmentShape } });
  const { ask } = run.actors.get({ name, commands }, id);
  const { mailBytes } = run.use(MailSettings).limits;
  const untilMs = run.nowMs + collectMs;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let progress: z.infer<typeof mailAttachmentShape.request>['progress'] = null;
  do {
    const piece = await ask.mailAttachment({ key, progress }, { deadlineMs: untilMs - run.nowMs });
    run.signal.throwIfAborted();
    if (piece === null) return 'gone';
    const text = Buffer.from(piece.text);
    bytes += text.byteLength;
    if (bytes > mailBytes) return 'too-large';
    pieces.push(text);
    progress = piece.next;
  } while (progress !== null);
  return pieces;
}
