/** One timer for all reminders of an account. Both feature flags, the operator's and the user's, are read when one is due. */
import { type Turn, timer } from '../../../runtime/command.ts';
import { mailAddress } from '../../mailer/address.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { sealMail, tellToRecall, tellToSend } from '../../mailer/outgoing.ts';
import { AccountSettings } from '../../settings.ts';
import { isBanned } from '../ban.ts';
import { isoTime } from '../iso-time.ts';
import { listenerFor } from '../mail-listener.ts';
import { profileSlice } from '../profile.ts';
import { scheduleOf } from '../schedule.ts';
import { settingValue } from '../settings/stored.ts';
import { Reminders } from './contract.ts';
import { afterDue, ended, heldBack, isGone, messageOf, type Reminder, reminderMap } from './reminder.ts';

const { sendReminders } = Reminders.timers;
const askAgainMs = 60_000;

const isInUse = (turn: Turn): boolean => turn.get(profileSlice).state === 'active' && !isBanned(turn);

const schedule = scheduleOf<Reminder>({
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
  /** In the commit that deletes the account. */
  forget: forgetReminders,
  /** After a ban. */
  arm: resumeReminders,
} = schedule;

export const sendRemindersTimer = timer({
  ...sendReminders,
  missed: 'fire-once',
  turn: (turn) => {
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
  },
});

export const areWanted = (turn: Turn): boolean => settingValue(turn, 'EMAIL_REMINDERS_ENABLED') === 'true';

/** The account's own address, while both feature flags are on. */
function recipientOf(turn: Turn): string | undefined {
  const isOpen = turn.use(AccountSettings).emailReminders && areWanted(turn);
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
    accountSinceMs: turn.get(profileSlice).createdAtMs,
    listener: listenerFor(turn, 'reminder', of.uuid, of.round),
    ...(of.messageId !== null && { messageId: of.messageId }),
    subject: `Reminder: ${message}`,
    text: `${text.join('\n\n')}\n`,
  };
  tellToSend(turn, sealMail(turn, mail));
}

function recall(turn: Turn, of: Reminder): void {
  // An administrator could still send what has expired.
  if (of.state === 'queued' || of.state === 'expired') tellToRecall(turn, mailIdOf(of));
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
      // It was being sent when it was to be called back.
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
 * What no relay has is due again once the queue has said that it gave it back: after a change of the account's address,
 * as it would go to the old one, and when the account is banned, as nothing is sent for it.
 */
export function recallReminders(turn: Turn): void {
  for (const each of turn.entries(reminderMap).values()) {
    if (each.state === 'queued') askBack(turn, each);
  }
  schedule.arm(turn);
}

/** The queue keeps a mail that it is sending, and is asked again in case that came to nothing. */
function askBack(turn: Turn, of: Reminder): void {
  recall(turn, of);
  turn.setEntry(reminderMap, of.uuid, { ...of, isRecalled: true, nextAtMs: turn.nowMs + askAgainMs });
}
