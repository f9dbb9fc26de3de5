/** Backups by e-mail (docs/protocol/delivery.md, "Backups by e-mail"). `schedule.ts` says when. */
import { sharedRead, timer } from '../../../runtime/command.ts';
import { exportProgressSchema } from '../../export-file.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { isInUse } from '../profile.ts';
import { exportPieces } from '../requests/export-pieces.ts';
import { MailBackups } from './mailer-contract.ts';
import {
  backupIsDue,
  backupMailOutcome,
  backupSlice,
  isEnabled,
  listener,
  recallBackup,
  scheduleBackup,
} from './schedule.ts';

const exportRequest = (progress: unknown) => ({
  progress: exportProgressSchema.nullable().parse(progress),
  itemsOnly: true,
});

export const mailBackups = userPart(MailBackups, {
  name: 'mail-backups',
  uses: [AccountSettings],
  slices: [backupSlice],
  commands: {
    mailAttachment: sharedRead(MailBackups.commands.mailAttachment, {
      reads: (view, { progress }) => exportPieces.reads(view, exportRequest(progress)),
      answer: (view, { progress }, reads) =>
        isInUse(view) && isEnabled(view) ? exportPieces.answer(view, exportRequest(progress), reads) : null,
    }),
  },
  timers: {
    mailBackup: timer(MailBackups.timers.mailBackup, backupIsDue),
  },
  on: {
    accountDeleted: recallBackup,
    banned: recallBackup,
    unbanned: scheduleBackup,
    credentialsChanged: (turn, { hasMoved }) => {
      if (!hasMoved) return;
      recallBackup(turn);
      scheduleBackup(turn);
    },
    mailOutcome: { listener, turn: backupMailOutcome },
  },
});
