/** The timer of all reminders of an account. It reads the operator's setting and the user's when a reminder is due. */
import { type Turn, timer } from '../../../runtime/command.ts';
import { mailAddress } from '../../mailer/address.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTime } from '../../times.ts';
import { textOf } from '../mails.ts';
import { isInUse, profileSlice } from '../profile.ts';
import { scheduleOf } from '../schedule.ts';
import { settingValue } from '../settings/stored.ts';
import { Reminders } from './contract.ts';
import { afterDue, ended, heldBack, isGone, openMessage, type Reminder, reminderMap } from './reminder.ts';

const { sendReminders } = Reminders.timers;

const schedule = scheduleOf<Reminder>({
  name: 'reminder',
  map: reminderMap,
  keyOf: ({ uuid }) => uuid,
  timer: sendReminders,
  nextMs:
    (turn) =>
    ({ state, isRecalled, nextAtMs }) =>
      (state === 'queued' ? isRecalled : isInUse(turn)) ? nextAtMs : undefined,
  recall,
});

export const {
  set: setReminder,
  remove: removeReminder,
  forget: forgetReminders,
  arm: resumeReminders,
} = schedule;

export const sendRemindersTimer = timer(sendReminders, (turn) => {
  for (const each of turn.entries(reminderMap).values()) {
    if (isGone(each, turn.nowMs)) turn.removeEntry(reminderMap, each.uuid);
    if (each.isRecalled && turn.nowMs >= each.nextAtMs) askBack(turn, each);
  }
  if (!isInUse(turn)) return schedule.arm(turn);
  const recipient = recipientOf(turn);
  for (const each of afterDue(turn.entries(reminderMap).values(), turn.nowMs, recipient !== undefined)) {
    turn.setEntry(reminderMap, each.uuid, each);
    if (each.state === 'queued' && recipient !== undefined) send(turn, each, recipient);
  }
  schedule.arm(turn);
});

export const areEnabled = (turn: Turn): boolean => settingValue(turn, 'EMAIL_REMINDERS_ENABLED') === 'true';

/** The account's own address. Undefined: the operator or the user has turned reminders off. */
function recipientOf(turn: Turn): string | undefined {
  const isOpen = turn.use(AccountSettings).emailReminders && areEnabled(turn);
  return isOpen ? mailAddress(turn.get(profileSlice).email) : undefined;
}

function send(turn: Turn, reminder: Reminder, recipient: string): void {
  const message = openMessage(turn, reminder);
  const text = textOf([
    message,
    `It was due on ${isoTime(reminder.dueAtMs)}.`,
    'Your app lists the reminders that come by e-mail. There you can delete them, or turn these mails off.',
  ]);
  const subject = `Reminder: ${message}`;
  const again = reminder.messageId !== null && { messageId: reminder.messageId };
  schedule.mail(turn, reminder, { source: 'email-reminder', recipient, subject, text, ...again });
}

function recall(turn: Turn, reminder: Reminder): void {
  // An administrator could still send an expired mail.
  if (reminder.state === 'queued' || reminder.state === 'expired') schedule.recallMail(turn, reminder);
}

export function reminderMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const before = schedule.find(turn, uuid, round);
  if (before?.state !== 'queued') return;
  switch (outcome.outcome) {
    case 'accepted':
      if (turn.use(AccountSettings).emailReminderNoRecords) removeSent(turn, uuid);
      else setReminder(turn, ended(before, 'sent', turn.nowMs));
      return;
    case 'dead':
      setReminder(turn, ended(before, 'expired', turn.nowMs));
      return;
    case 'recalled':
      setReminder(turn, heldBack(before, turn.nowMs, outcome.messageId));
      return;
    case 'failed':
      // The queue was sending it when it was recalled.
      if (before.isRecalled) askBack(turn, before);
      return;
    case 'refused':
      setReminder(turn, heldBack(before, outcome.nextAttemptAtMs ?? turn.nowMs));
      return;
  }
}

function removeSent(turn: Turn, uuid: string): void {
  turn.removeEntry(reminderMap, uuid);
  schedule.arm(turn);
}

/**
 * Recalls every mail that no relay has. Its reminder is due again once the queue reports that it gave the mail back. A ban needs
 * that, as nothing is sent for the account. A change of address needs it, too, as the mail would go to the old one.
 */
export function recallReminders(turn: Turn): void {
  for (const each of turn.entries(reminderMap).values()) {
    if (each.state === 'queued') askBack(turn, each);
  }
  schedule.arm(turn);
}

const askBack = (turn: Turn, queued: Reminder): void =>
  turn.setEntry(reminderMap, queued.uuid, schedule.markRecalled(turn, queued));
