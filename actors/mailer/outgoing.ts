/**
 * For the actors that send mail. `sealMail` is called in a turn, and what it makes is
 *
 *     told    in the same turn, where the mail belongs to the turn's commit: `tellToSend(turn, mail)`
 *     asked   from the workflow, where somebody waits for the answer: `askToSend(workflow.actors, mail)`
 *
 * A kind that seals mail uses `UserSecrets`. What a mail says is sealed before it leaves the turn, so it stands in no
 * row and no frame in plain text.
 */
import type { Turn } from '../../runtime/command.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { Refusal } from '../reply.ts';
import { hasControl, mailAddress } from './address.ts';
import { sealContent } from './content.ts';
import { Mailer, mailerId, type Queued, type RecallResult, type SealedMail } from './contract.ts';

export interface Mail extends Omit<SealedMail, 'content'> {
  /** One address, of which `mailAddress` has made sure. */
  readonly recipient: string;
  /** One line. */
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** @throws TypeError when the recipient is not one address or the subject not one line: that is its caller's defect */
export function sealMail(turn: Turn, { recipient, subject, text, ...rest }: Mail): SealedMail {
  const address = mailAddress(recipient);
  if (address === undefined) throw new TypeError('the recipient is not one address');
  if (hasControl(subject)) throw new TypeError('the subject is not one line');
  return { ...rest, content: sealContent(turn, rest, { recipient: address, subject, text }) };
}

export function tellToSend(turn: Turn, mail: SealedMail): void {
  turn.tell(Mailer, mailerId).queue(mail);
}

export function askToSend(actors: Actors, mail: SealedMail, options?: AskOptions): Promise<Queued> {
  return actors.get(Mailer, mailerId).ask.queue(mail, options);
}

/** A mail that has not arrived yet is dropped when it does. */
export async function askToRecall(actors: Actors, id: string, options?: AskOptions): Promise<RecallResult> {
  const { result } = await actors.get(Mailer, mailerId).ask.recall({ id }, options);
  return result;
}

export function tellToRecall(turn: Turn, id: string): void {
  turn.tell(Mailer, mailerId).recall({ id });
}

/** For an account that is deleted. */
export function tellToForgetSender(turn: Turn): void {
  turn.tell(Mailer, mailerId).forgetSender({ userUuid: turn.self.id });
}

/** Whether there is a relay that could send. */
export async function isMailConfigured(actors: Actors, options?: AskOptions): Promise<boolean> {
  const { configured } = await actors.get(Mailer, mailerId).ask.status({}, options);
  return configured;
}

/** What a request is answered whose mail was not queued. */
export function refusalOf({ why, retryAfterMs }: Extract<Queued, { queued: false }>): Refusal {
  switch (why) {
    case 'full':
      return {
        status: 503,
        tag: 'email-queue-full',
        message: 'The server cannot send any more mail at the moment. Please try again later.',
        retryAfterMs,
      };
    case 'not-configured':
      return {
        status: 503,
        tag: 'email-delivery-unavailable',
        message: 'This server is not set up to send mail.',
      };
    case 'daily-limit':
      return {
        status: 429,
        tag: 'email-daily-limit',
        message: 'This account has sent as much mail to others as it may in one day.',
        retryAfterMs,
      };
  }
}
