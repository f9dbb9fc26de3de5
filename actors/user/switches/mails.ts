/**
 * What the mails of dead man's switches say, to the recipient and to the owner. A subject holds nothing that anyone wrote.
 */
import type { Turn } from '../../../runtime/command.ts';
import { textOf } from '../mails.ts';
import { profileSlice } from '../profile.ts';
import { isoTime } from '../times.ts';
import { contentsOf, type Switch } from './switch.ts';

const what = "a dead man's switch";

export function mailToRecipient(turn: Turn, entry: Switch) {
  const { recipient, shareUrl, message } = contentsOf(turn, entry);
  const { email } = turn.get(profileSlice);
  const text = textOf([
    `${email} has set up ${what} on a server for notes, and has not checked in since it was due on ${isoTime(entry.deadlineMs)}. ` +
      'This mail was to be sent to you then.',
    ...(message === null ? [] : [`What ${email} wrote for you:`, message]),
    'The link to what was left for you:',
    shareUrl,
    `If you do not know who ${email} is, do not open the link.`,
  ]);
  return { source: 'dead-man-switch', recipient, subject: 'Something was left for you', text } as const;
}

export interface Notice {
  readonly about: 'warning' | 'sent';
  readonly subject: string;
  readonly text: string;
}

export function warning(turn: Turn, entry: Switch): Notice {
  const { recipient } = contentsOf(turn, entry);
  const text = textOf([
    `You have set up ${what}. Unless you check in before ${isoTime(entry.deadlineMs)}, a mail with your link is sent to ${recipient}.`,
    'Sign in to your notes and check in, or delete it there.',
  ]);
  return { about: 'warning', subject: "Your dead man's switch is about to fire", text };
}

export function noticeOfSending(turn: Turn, entry: Switch): Notice {
  const { recipient } = contentsOf(turn, entry);
  const text = textOf([
    `You had not checked in before ${isoTime(entry.deadlineMs)}, so the mail with your link was sent to ${recipient}.`,
    'It cannot be called back. To stop others from opening the link, sign in to your notes and revoke what it shares.',
  ]);
  return { about: 'sent', subject: "Your dead man's switch has fired", text };
}
