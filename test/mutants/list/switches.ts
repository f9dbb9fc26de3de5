import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/mail/switches.test.ts'];
const attacks = ['test/attacks/switches.test.ts'];
const reminders = ['test/behaviour/mail/reminders.test.ts'];
const given = ['actors/user/switches/given.test.ts'];
const folder = 'actors/user/switches';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-check-in-that-counts-whenever-a-copy-comes',
    harm: 'A copy of a check-in that was on its way for long keeps a switch from firing.',
    file: `${folder}/commands.ts`,
    find: "  repeat: 'recorded',\n  turn: (turn, { switchId }) => {",
    replace: '  turn: (turn, { switchId }) => {',
    tests: behaviour,
    match: 'a check-in that is repeated*',
  },
  {
    name: 'a-late-check-in-that-recalls-nothing',
    harm: 'A link is sent of somebody who has checked in.',
    file: `${folder}/commands.ts`,
    find: '    recallMails(turn, before);\n    const after = checkedIn',
    replace: '    const after = checkedIn',
    tests: behaviour,
  },
  {
    name: 'an-outage-that-counts-as-silence',
    harm: 'After a week without power every switch fires, though nobody could check in.',
    file: `${folder}/switch.ts`,
    find: 'if (nowMs - dueMs <= lateMs) return 0;',
    replace: 'if (nowMs >= dueMs) return 0;',
    tests: behaviour,
  },
  {
    name: 'a-switch-that-fires-for-a-banned-account',
    harm: 'Whoever is banned still has mail sent to others.',
    file: 'actors/user/account/set-ban.ts',
    find: '  pauseSwitches(turn);\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'a-switch-that-outlives-its-account',
    harm: 'Mail is sent for an account that its owner has deleted.',
    file: 'actors/user/account/delete-account.ts',
    find: '  forgetSwitches(turn);\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'a-refusal-taken-for-the-end',
    harm: 'Where the queue was full at the wrong moment the link is never sent.',
    file: `${folder}/watch.ts`,
    find: "setSwitch(turn, { ...before, state: 'waiting', nextAttemptAtMs });",
    replace: "setSwitch(turn, { ...before, state: 'sent', nextAttemptAtMs });",
    tests: behaviour,
  },
  {
    name: 'a-link-with-a-password-in-it',
    harm: 'A recipient is shown one host and sent to another.',
    file: `${folder}/given.ts`,
    find: "  if (username !== '' || password !== '') return undefined;\n",
    replace: '',
    tests: given,
  },
  {
    name: 'a-list-of-recipients',
    harm: 'One switch mails as many strangers as its owner likes.',
    file: `${folder}/given.ts`,
    find: 'mailAddress(given.trim()) : undefined',
    replace: 'given.trim() : undefined',
    tests: attacks,
  },
  {
    name: 'reminders-for-whoever-did-not-ask',
    harm: 'Reminders go by mail in plain text though their user has turned that off.',
    file: 'actors/user/reminders/send.ts',
    find: "settingValue(turn, 'EMAIL_REMINDERS_ENABLED') === 'true'",
    replace: "settingValue(turn, 'EMAIL_REMINDERS_ENABLED') !== ''",
    tests: reminders,
  },
  {
    name: 'late-reminders-in-one-burst',
    harm: 'Whoever turns reminders on gets a hundred mails at once, and the relay its limits.',
    file: 'actors/user/reminders/reminder.ts',
    find: 'late > latePerMinute && ageMs > lateMs',
    replace: 'late > remindersMax && ageMs > lateMs',
    tests: reminders,
  },
  {
    name: 'reminders-after-a-ban',
    harm: 'Mail is sent for an account that is banned.',
    file: 'actors/user/account/set-ban.ts',
    find: '  recallReminders(turn);\n',
    replace: '',
    tests: reminders,
  },
];
