/** What is delivered of a published reminder, by mail or messenger. The subject holds nothing that anybody wrote. */
import type { Turn } from '../../../runtime/command.ts';
import { sealMail, tellToSend } from '../../mailer/outgoing.ts';
import { listenerFor } from '../mails.ts';
import { profileSlice } from '../profile.ts';
import { isoTime } from '../times.ts';
import { contentsOf, type PublishedReminder } from './published-reminder.ts';

export function textOf(turn: Turn, reminder: PublishedReminder): string {
  const { message } = contentsOf(turn, reminder);
  const due = `Reminder (due ${isoTime(reminder.dueAtMs)})`;
  return message === '' ? due : `${due}: ${message}`;
}

export const mailIdOf = ({ uuid, round }: PublishedReminder): string => `published:${uuid}:${round}`;

export function mailReminder(turn: Turn, reminder: PublishedReminder, recipient: string): void {
  const { uuid, round } = reminder;
  const mail = {
    ...({ id: mailIdOf(reminder), source: 'published-reminder', userUuid: turn.self.id, recipient } as const),
    accountSinceMs: turn.get(profileSlice).createdAtMs,
    listener: listenerFor(turn, 'published', uuid, round),
    subject: 'Reminder',
    text: `${textOf(turn, reminder)}\n`,
  };
  tellToSend(turn, sealMail(turn, mail));
}
