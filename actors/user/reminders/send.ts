/** One timer for all reminders of an account. Both gates, the operator's and the user's, are read when one is due. */
import { type Turn, timer } from '../../../runtime/command.ts';
import { mailAddress } from '../../mailer/address.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { sealMail, tellToRecall, tellToSend } from '../../mailer/outgoing.ts';
import { AccountSettings } from '../../settings.ts';
import { isBanned } from '../ban.ts';
import { User } from '../contract.ts';
import { isoTime } from '../iso-time.ts';
import { listenerFor } from '../mail-listener.ts';
import { profileSlice } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';
import { afterDue, ended, heldBack, isGone, messageOf, type Reminder, reminderMap } from './reminder.ts';

const { sendReminders } = User.timers;

const isInUse = (turn: Turn): boolean => turn.get(profileSlice).state === 'active' && !isBanned(turn);

export function setReminder(turn: Turn, of: Reminder): void {
  turn.setEntry(reminderMap, of.uuid, of);
  armNext(turn);
}

export function removeReminder(turn: Turn, of: Reminder): void {
  recall(turn, of);
  turn.removeEntry(reminderMap, of.uuid);
  armNext(turn);
}

function armNext(turn: Turn): void {
  const dueMs = Math.min(
    ...[...turn.entries(reminderMap).values()]
      .filter(({ state }) => state !== 'queued')
      .map(({ nextAtMs }) => nextAtMs),
  );
  if (isInUse(turn) && Number.isFinite(dueMs)) turn.arm(sendReminders, dueMs, null);
  else turn.disarm(sendReminders);
}

export const sendRemindersTimer = timer({
  ...sendReminders,
  missed: 'fire-once',
  turn: (turn) => {
    for (const each of turn.entries(reminderMap).values()) {
      if (isGone(each, turn.nowMs)) turn.removeEntry(reminderMap, each.uuid);
    }
    const recipient = recipientOf(turn);
    for (const each of afterDue(turn.entries(reminderMap).values(), turn.nowMs, recipient !== undefined)) {
      turn.setEntry(reminderMap, each.uuid, each);
      if (each.state === 'queued' && recipient !== undefined) send(turn, each, recipient);
    }
    armNext(turn);
  },
});

/** The account's own address, while both gates are open. */
function recipientOf(turn: Turn): string | undefined {
  const isOpen =
    turn.use(AccountSettings).emailReminders && settingValue(turn, 'EMAIL_REMINDERS_ENABLED') === 'true';
  return isOpen ? mailAddress(turn.get(profileSlice).email) : undefined;
}

const mailIdOf = ({ uuid, round }: Reminder): string => `reminder:${uuid}:${round}`;

function send(turn: Turn, of: Reminder, recipient: string): void {
  const message = messageOf(turn, of);
  const text = [
    message,
    `It was due on ${isoTime(of.dueAtMs)}.`,
    'Your app lists the reminders that come by e-mail. There you can delete them, or turn these mails off.',
  ];
  const mail = {
    ...({ id: mailIdOf(of), source: 'email-reminder', userUuid: turn.self.id, recipient } as const),
    listener: listenerFor(turn, 'reminder', of.uuid, of.round),
    subject: `Reminder: ${message}`,
    text: `${text.join('\n\n')}\n`,
  };
  tellToSend(turn, sealMail(turn, mail));
}

function recall(turn: Turn, of: Reminder): void {
  if (of.state === 'queued') tellToRecall(turn, mailIdOf(of));
}

export function reminderMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const before = turn.entry(reminderMap, uuid);
  if (before === undefined || before.round !== round || before.state !== 'queued') return;
  switch (outcome.outcome) {
    case 'accepted':
      if (turn.use(AccountSettings).emailReminderNoRecords) removeSent(turn, uuid);
      else setReminder(turn, ended(before, 'sent', turn.nowMs));
      return;
    case 'dead':
      setReminder(turn, ended(before, 'expired', turn.nowMs));
      return;
    case 'refused':
      setReminder(turn, heldBack(before, outcome.nextAttemptAtMs ?? turn.nowMs));
      return;
  }
}

function removeSent(turn: Turn, uuid: string): void {
  turn.removeEntry(reminderMap, uuid);
  armNext(turn);
}

/** While an account is banned nothing is sent for it. */
export function pauseReminders(turn: Turn): void {
  for (const each of turn.entries(reminderMap).values()) recall(turn, each);
  turn.disarm(sendReminders);
}

/** What was recalled is due again. */
export function resumeReminders(turn: Turn): void {
  for (const each of turn.entries(reminderMap).values()) {
    if (each.state === 'queued') turn.setEntry(reminderMap, each.uuid, heldBack(each, turn.nowMs));
  }
  armNext(turn);
}

/** In the commit that deletes the account. */
export function forgetReminders(turn: Turn): void {
  for (const each of turn.entries(reminderMap).values()) {
    recall(turn, each);
    turn.removeEntry(reminderMap, each.uuid);
  }
  turn.disarm(sendReminders);
}
