/** Whether mail gets away: a relay that is in use can send, nothing waits for long, and there is room for more. */
import { range, sharedRead } from '../../../runtime/command.ts';
import { MailSettings } from '../../settings.ts';
import { MailAdministration } from '../operator-contract.ts';
import { mailTable, queueSlice } from '../queue-table.ts';
import { isAnyPaused } from '../relay-use.ts';
import { isConfigured } from '../relays.ts';

/** What is ready leaves within moments. */
const waitMaxMs = 300_000;

export const health = sharedRead({
  ...MailAdministration.commands.health,
  reads: (view) => ({
    oldest: range(mailTable, {
      ...{ after: 0, through: view.get(queueSlice).position, limit: 1, subset: 'ordinary' },
      columns: ['updated_at'],
    }),
  }),
  answer: (view, _request, { oldest }) => {
    const { contentBytes } = view.get(queueSlice);
    const [first] = oldest.rows;
    const isLate = first !== undefined && view.nowMs - first.updated_at > waitMaxMs;
    const isNearlyFull = contentBytes > 0.9 * view.use(MailSettings).limits.contentBytes;
    return { good: !isLate && !isNearlyFull && !(isConfigured(view) && isAnyPaused(view)) };
  },
});
