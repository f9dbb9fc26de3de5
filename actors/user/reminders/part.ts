/** The reminders by e-mail of an account (docs/protocol/delivery.md, "Reminders by e-mail"). */
import { UserSecrets } from '../../identity/user-secrets.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { Reminders } from './contract.ts';
import { reminderMap } from './reminder.ts';
import { reminderCommands } from './reminders.ts';
import {
  forgetReminders,
  recallReminders,
  reminderMailOutcome,
  resumeReminders,
  sendRemindersTimer,
} from './send.ts';

export const reminders = userPart(Reminders, {
  name: 'reminders',
  uses: [AccountSettings, UserSecrets],
  slices: [reminderMap],
  commands: reminderCommands,
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
