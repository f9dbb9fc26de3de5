/** The mails of dead man's switches: to the recipient, and to the owner. Their subjects hold nothing that anybody wrote. */
import type { Turn } from '../../../runtime/command.ts';
import { mailAddress } from '../../mailer/address.ts';
import { sealMail, tellToRecall, tellToSend } from '../../mailer/outgoing.ts';
import { listenerFor } from '../mails.ts';
import { profileSlice } from '../profile.ts';
import { isoTime } from '../times.ts';
import { contentsOf, type Switch } from './switch.ts';

const what = "a dead man's switch";

const mailIdOf = ({ uuid, round }: Switch): string => `switch:${uuid}:${round}`;
const noticeIdOf = (of: Switch, notice: 'warning' | 'sent'): string => `${mailIdOf(of)}:${notice}`;

export function mailSwitch(turn: Turn, of: Switch): void {
  const { recipient, shareUrl, message } = contentsOf(turn, of);
  const { email, createdAtMs: accountSinceMs } = turn.get(profileSlice);
  const paragraphs = [
    `${email} has set up ${what} on a server for notes, and has not checked in since it was due on ${isoTime(of.deadlineMs)}. ` +
      'This mail was to be sent to you then.',
    ...(message === null ? [] : [`What ${email} wrote for you:`, message]),
    'The link to what was left for you:',
    shareUrl,
    `If you do not know who ${email} is, do not open the link.`,
  ];
  const mail = {
    ...({ id: mailIdOf(of), source: 'dead-man-switch', userUuid: turn.self.id, recipient } as const),
    accountSinceMs,
    listener: listenerFor(turn, 'switch', of.uuid, of.round),
    ...(of.messageId !== null && { messageId: of.messageId }),
    subject: 'Something was left for you',
    text: textOf(paragraphs),
  };
  tellToSend(turn, sealMail(turn, mail));
}

export function warnOwner(turn: Turn, of: Switch): void {
  const { recipient } = contentsOf(turn, of);
  notify(turn, of, 'warning', "Your dead man's switch is about to fire", [
    `You have set up ${what}. Unless you check in before ${isoTime(of.deadlineMs)}, a mail with your link is sent to ${recipient}.`,
    'Sign in to your notes and check in, or delete it there.',
  ]);
}

export function tellOwnerSent(turn: Turn, of: Switch): void {
  const { recipient } = contentsOf(turn, of);
  notify(turn, of, 'sent', "Your dead man's switch has fired", [
    `You had not checked in before ${isoTime(of.deadlineMs)}, so the mail with your link was sent to ${recipient}.`,
    'It cannot be called back. To stop others from opening the link, sign in to your notes and revoke what it shares.',
  ]);
}

/** Nobody gets a mail of this round that has not left. */
export function recallMails(turn: Turn, of: Switch): void {
  if (of.state === 'queued') tellToRecall(turn, mailIdOf(of));
  if (of.state === 'armed' && of.warnAtMs === null) tellToRecall(turn, noticeIdOf(of, 'warning'));
}

/** Nobody sends the mail of this round any more, or finds what it said. */
export const forgetMail = (turn: Turn, of: Switch): void => tellToRecall(turn, mailIdOf(of));

/** An account whose name is no address has no notices. */
function notify(
  turn: Turn,
  of: Switch,
  notice: 'warning' | 'sent',
  subject: string,
  paragraphs: readonly string[],
): void {
  const { email, createdAtMs: accountSinceMs } = turn.get(profileSlice);
  const recipient = mailAddress(email);
  if (recipient === undefined) return;
  const id = noticeIdOf(of, notice);
  const rest = { source: 'dead-man-switch-notice', userUuid: turn.self.id, accountSinceMs } as const;
  tellToSend(turn, sealMail(turn, { id, ...rest, recipient, subject, text: textOf(paragraphs) }));
}

const textOf = (paragraphs: readonly string[]): string => `${paragraphs.join('\n\n')}\n`;
