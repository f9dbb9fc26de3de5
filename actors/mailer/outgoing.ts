/**
 * For actors that send mail. `sealMail` makes the mail in a turn, and `tellToSend` tells the queue of it in the same commit.
 *
 * If a request asks for nothing but a mail, `refusalOfMail` tells beforehand whether the mail would be refused. Ask it for every
 * caller alike, so that the answer does not show whether there will be a mail.
 *
 * A kind that seals mail uses `UserSecrets`. The content is sealed before it leaves the turn, so no row and no frame has it in plain
 * text.
 */
import type { Turn } from '../../runtime/command.ts';
import type { Actors } from '../../runtime/handles.ts';
import { type Refused, refuse } from '../reply.ts';
import { hasControl, mailAddress } from './address.ts';
import { type Content, sealContent } from './content.ts';
import { Mailer, mailerId, type RecallResult, type SealedMail } from './contract.ts';
import type { MailSource } from './sources.ts';

export interface Mail extends Omit<SealedMail, 'content'> {
  /** One address, as `mailAddress` has checked. */
  readonly recipient: string;
  /** One line. */
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  /** Only of a mail with a listener, which is asked for the file. */
  readonly attachment?: Content['attachment'];
}

/** @throws TypeError if the recipient is not one address or the subject not one line, which is a defect of the caller */
export function sealMail(turn: Turn, { recipient, subject, text, attachment, ...rest }: Mail): SealedMail {
  const address = mailAddress(recipient);
  if (address === undefined) throw new TypeError('the recipient is not one address');
  if (hasControl(subject)) throw new TypeError('the subject is not one line');
  return { ...rest, content: sealContent(turn, rest, { recipient: address, subject, text, attachment }) };
}

export function tellToSend(turn: Turn, mail: SealedMail): void {
  turn.tell(Mailer, mailerId).queue(mail);
}

/** A mail that has not arrived at the queue yet is dropped when it does. */
export async function askToRecall(
  actors: Actors,
  mail: Pick<SealedMail, 'id' | 'userUuid'>,
): Promise<RecallResult> {
  const { result } = await actors.get(Mailer, mailerId).ask.recall(mail);
  return result;
}

export function tellToRecall(turn: Turn, id: string): void {
  turn.tell(Mailer, mailerId).recall({ id, userUuid: turn.self.id });
}

/** Call this when the account is deleted. */
export function tellToForgetSender(turn: Turn): void {
  turn.tell(Mailer, mailerId).forgetSender({ userUuid: turn.self.id });
}

/** Whether there is a relay that could send. */
export async function isMailConfigured(actors: Actors): Promise<boolean> {
  const { configured } = await actors.get(Mailer, mailerId).ask.status({});
  return configured;
}

/** The refusal for a request that is of no use without a relay; undefined if there is a relay. */
export async function noMailConfigured(actors: Actors): Promise<Refused | undefined> {
  return (await isMailConfigured(actors)) ? undefined : notConfigured;
}

/** The refusal for a request whose mail would not be queued; undefined if it would be. */
export async function refusalOfMail(actors: Actors, source: MailSource): Promise<Refused | undefined> {
  const answer = await actors.get(Mailer, mailerId).ask.room({ source });
  if (answer.queued) return undefined;
  return answer.why === 'full' ? full(answer.retryAfterMs) : notConfigured;
}

/** A refusal that stays the same however long the caller waits. */
const notConfigured = refuse.badRequest(
  'This server is not set up to send mail.',
  'email-delivery-unavailable',
);

const full = (retryAfterMs: number): Refused =>
  refuse.notNow('The server cannot send any more mail at the moment. Please try again later.', retryAfterMs, {
    tag: 'email-queue-full',
  });
