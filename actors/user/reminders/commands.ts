/** What clients do with reminders by e-mail (docs/protocol/delivery.md, "Reminders by e-mail"). No gate is before them. */
import type { View } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isStorableText } from '../../storable-text.ts';
import { User } from '../contract.ts';
import { givenTimeMs } from '../given-time.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { messageOf, type Reminder, reminderMap, remindersMax, sealMessage } from './reminder.ts';
import { removeReminder, setReminder } from './send.ts';
import type { ShownReminder } from './shapes.ts';

const charactersMax = 500;

const invalid = refuse(400, 'Give a message and when it is due.', 'invalid-email-reminder');
const unknown = refuse(404, 'There is no such reminder.', 'email-reminder-not-found');
/** Clients look for "reached the maximum". */
const tooMany = (most: number) =>
  refuse(400, `You have reached the maximum of ${most} reminders by e-mail.`, 'email-reminder-limit');

/** One line, cut at a whole character. It becomes the subject of a mail. */
export function oneLine(given: unknown): string | undefined {
  if (typeof given !== 'string' || !isStorableText(given)) return undefined;
  const line = given.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const cut = line
    .slice(0, charactersMax)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
  return cut === '' ? undefined : cut;
}

const makeReminder = signedInTurn({
  ...User.commands.makeReminder,
  repeat: 'recorded',
  turn: (turn, given) => {
    const dueAtMs = givenTimeMs(given.dueAt ?? given.time);
    const message = oneLine(given.message);
    if (dueAtMs === undefined || message === undefined) return invalid;
    const most = turn.use(AccountSettings).emailRemindersMax || remindersMax;
    if (turn.entries(reminderMap).size >= most) return tooMany(most);
    const uuid = turn.random.uuid();
    const made: Reminder = {
      ...{ uuid, message: sealMessage(turn, uuid, message), dueAtMs, createdAtMs: turn.nowMs },
      ...{ state: 'waiting', round: 1, isRecalled: false, messageId: null },
      nextAtMs: Math.max(dueAtMs, turn.nowMs),
    };
    setReminder(turn, made);
    return { emailReminder: shown(turn, made) };
  },
});

const listReminders = signedInRead({
  ...User.commands.listReminders,
  answer: (view) => {
    const inOrder = [...view.entries(reminderMap).values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs);
    return { emailReminders: inOrder.map((each) => shown(view, each)) };
  },
});

const deleteReminder = signedInTurn({
  ...User.commands.deleteReminder,
  turn: (turn, { reminderId }) => {
    const before = turn.entry(reminderMap, reminderId);
    if (before === undefined) return unknown;
    removeReminder(turn, before);
    return { message: 'Email reminder deleted' };
  },
});

function shown(view: View, of: Reminder): ShownReminder {
  return {
    ...{ uuid: of.uuid, dueAt: of.dueAtMs, message: messageOf(view, of) },
    ...{ sent: of.state === 'sent', createdAt: of.createdAtMs },
  };
}

export const reminderCommands = { makeReminder, listReminders, deleteReminder };
