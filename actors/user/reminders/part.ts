/**
 * Reminders by e-mail (docs/protocol/delivery.md, "Reminders by e-mail"). A user may always list and delete reminders, but can
 * make one only if it could be sent. Clients would show a reminder that never leaves as pending.
 */
import type { Turn, View } from '../../../runtime/command.ts';
import { isStorableText } from '../../../runtime/table.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { mailAddress } from '../../mailer/address.ts';
import { noMailConfigured } from '../../mailer/outgoing.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { sentTimeMs } from '../../times.ts';
import { userPart } from '../hooks.ts';
import { profileSlice } from '../profile.ts';
import { signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { type ReminderResponse, Reminders } from './contract.ts';
import { openMessage, type Reminder, reminderMap, remindersMax, sealMessage } from './reminder.ts';
import {
  areEnabled,
  forgetReminders,
  recallReminders,
  reminderMailOutcome,
  removeReminder,
  resumeReminders,
  sendRemindersTimer,
  setReminder,
} from './send.ts';

const charactersMax = 500;

const invalid = refuse.badRequest('Give a message and when it is due.', 'invalid-email-reminder');
const notOffered = refuse.badRequest('This server sends no reminders by e-mail.', 'email-reminders-disabled');
const disabledByUser = refuse.badRequest(
  'You have turned reminders by e-mail off. Turn them on in the settings of your account first.',
  'email-reminders-disabled',
);
const noAddress = refuse.badRequest(
  'No mail can be sent to the name of this account, as it is no e-mail address.',
  'email-reminders-disabled',
);
const unknown = refuse.notFound('There is no such reminder.', 'email-reminder-not-found');
/** Clients look for "reached the maximum". */
const tooMany = (most: number) =>
  refuse.badRequest(`You have reached the maximum of ${most} reminders by e-mail.`, 'email-reminder-limit');

/** One line, cut at a whole character. It becomes the subject of a mail. */
function oneLine(input: unknown): string | undefined {
  if (typeof input !== 'string' || !isStorableText(input)) return undefined;
  const line = input.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const cut = line
    .slice(0, charactersMax)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
  return cut === '' ? undefined : cut;
}

const makeReminder = signedInWorkflow(Reminders.commands.makeReminder, async (workflow, input) => {
  await workflow.turn({ turn: (turn) => refusalToRemind(turn) ?? null });
  const noMail = await noMailConfigured(workflow.actors);
  if (noMail !== undefined) return noMail;
  return workflow.lastTurn({ recorded: true, turn: (turn) => make(turn, input) });
});

function refusalToRemind(turn: Turn) {
  if (!turn.use(AccountSettings).emailReminders) return notOffered;
  if (!areEnabled(turn)) return disabledByUser;
  return mailAddress(turn.get(profileSlice).email) === undefined ? noAddress : undefined;
}

function make(turn: Turn, input: { readonly dueAt?: unknown; readonly time?: unknown; message?: unknown }) {
  const dueAtMs = sentTimeMs(input.dueAt ?? input.time);
  const message = oneLine(input.message);
  if (dueAtMs === undefined || message === undefined) return invalid;
  const most = turn.use(AccountSettings).emailRemindersMax || remindersMax;
  if (turn.entries(reminderMap).size >= most) return tooMany(most);
  const uuid = turn.random.uuid();
  const made: Reminder = {
    uuid,
    message: sealMessage(turn, uuid, message),
    dueAtMs,
    createdAtMs: turn.nowMs,
    state: 'waiting',
    round: 1,
    isRecalled: false,
    messageId: null,
    nextAtMs: Math.max(dueAtMs, turn.nowMs),
  };
  setReminder(turn, made);
  return { emailReminder: toResponse(turn, made) };
}

const listReminders = signedInRead(Reminders.commands.listReminders, (view) => {
  const inOrder = [...view.entries(reminderMap).values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs);
  return { emailReminders: inOrder.map((each) => toResponse(view, each)) };
});

const deleteReminder = signedInTurn(Reminders.commands.deleteReminder, (turn, { reminderId }) => {
  const before = turn.entry(reminderMap, reminderId);
  if (before === undefined) return unknown;
  removeReminder(turn, before);
  return { message: 'Email reminder deleted' };
});

function toResponse(view: View, reminder: Reminder): ReminderResponse {
  return {
    uuid: reminder.uuid,
    dueAt: reminder.dueAtMs,
    message: openMessage(view, reminder),
    sent: reminder.state === 'sent',
    createdAt: reminder.createdAtMs,
  };
}

export const reminders = userPart(Reminders, {
  name: 'reminders',
  uses: [AccountSettings, UserSecrets],
  slices: [reminderMap],
  commands: { makeReminder, listReminders, deleteReminder },
  timers: { sendReminders: sendRemindersTimer },
  on: {
    accountDeleted: forgetReminders,
    banned: recallReminders,
    unbanned: resumeReminders,
    credentialsChanged: (turn, { hasMoved }) => {
      if (hasMoved) recallReminders(turn);
    },
    mailOutcome: { listener: 'reminder', turn: reminderMailOutcome },
  },
});
