import { health } from './health.ts';
import { listAudit, listLog, listQueue } from './pages.ts';
import { discard, retry } from './records.ts';
import { listRelays, setRelays } from './relay-list.ts';
import { testMail } from './test-mail.ts';

export const mailAdministrationCommands = {
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
