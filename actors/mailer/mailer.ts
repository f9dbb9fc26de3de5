/** The `mailer` kind: the one way in which this server sends mail. */
import { command, keys, timer } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { AccountSettings } from '../settings.ts';
import { health } from './admin/health.ts';
import { listAudit, listLog, listQueue } from './admin/pages.ts';
import { discard, retry } from './admin/records.ts';
import { listRelays, setRelays } from './admin/relay-list.ts';
import { testMail, testsSlice } from './admin/test-mail.ts';
import { becomeDue } from './attempt.ts';
import { MailDiskSpace } from './capacity.ts';
import { Mailer } from './contract.ts';
import { forgetSenderTell, mailboxMap, mailSenderTable, unsubscribeCommand } from './daily-limit.ts';
import { deadMap } from './dead.ts';
import { deliverMailJob } from './deliver.ts';
import { logSlice, mailAuditTable, mailLogTable } from './log-table.ts';
import { checkCapacityCommand, queueCommand, queueTell, recallCommand, recallTell } from './queue.ts';
import { asMail, mailKey, mailTable, queueSlice } from './queue-table.ts';
import { recalledMap, unwantedSlice } from './recalled.ts';
import { relayUseSlice } from './relay-use.ts';
import { isConfigured, relaysSlice } from './relays.ts';
import { MailSender } from './sender.ts';
import { MailSettings } from './settings.ts';
import { sweepTimer } from './sweep.ts';
import { wakeWorkers, workersSlice } from './workers.ts';

/** What administrators and operators ask, by a contract of their own. */
const administration = {
  listRelays,
  setRelays,
  test: testMail,
  listQueue,
  listLog,
  listAudit,
  retry,
  discard,
  health,
};

export const mailer = kindOf(Mailer, {
  uses: [AccountSettings, MailSettings, MailSender, MailDiskSpace, SigninKeys, UserSecrets],
  slices: [
    queueSlice,
    deadMap,
    recalledMap,
    mailboxMap,
    workersSlice,
    unwantedSlice,
    relaysSlice,
    relayUseSlice,
    logSlice,
    testsSlice,
  ],
  tables: [mailTable, mailSenderTable, mailLogTable, mailAuditTable],
  commands: {
    ...administration,
    queue: queueCommand,
    recall: recallCommand,
    room: checkCapacityCommand,
    unsubscribe: unsubscribeCommand,
    status: command(Mailer.commands.status, {
      creates: true,
      turn: (turn) => ({ configured: isConfigured(turn) }),
    }),
  },
  tells: { queue: queueTell, recall: recallTell, forgetSender: forgetSenderTell },
  timers: {
    due: timer(Mailer.timers.due, {
      reads: (view, { id }) => ({ mail: keys(mailTable, [mailKey(view, id)]) }),
      turn: (turn, { id }, { mail }) => becomeDue(turn, asMail(mail.get(mailKey(turn, id)))),
    }),
    wake: timer(Mailer.timers.wake, wakeWorkers),
    sweep: sweepTimer,
  },
  jobs: { deliver: deliverMailJob },
});
