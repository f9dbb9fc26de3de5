/** Whether mail leaves: a relay in use can send, no mail waits for long, and the queue has room for mail of any kind. */
import { range, sharedRead, type View } from '../../../runtime/command.ts';
import { isMailQueueFull } from '../capacity.ts';
import { MailAdministration } from '../operator-contract.ts';
import { mailTable, queueSlice } from '../queue-table.ts';
import { isAnyPaused } from '../relay-use.ts';
import { isConfigured } from '../relays.ts';

/** Ready mail usually leaves within moments. Bulk mail may take longer, because no user waits for it. */
const waitMaxMs = 300_000;

const oldest = (view: View, subset: 'urgent' | 'ordinary') =>
  range(mailTable, {
    after: 0,
    through: view.get(queueSlice).position,
    limit: 1,
    subset,
    columns: ['updated_at'],
  });

export const health = sharedRead(MailAdministration.commands.health, {
  reads: (view) => ({ urgent: oldest(view, 'urgent'), ordinary: oldest(view, 'ordinary') }),
  answer: (view, _request, { urgent, ordinary }) => {
    const { counts } = view.get(queueSlice);
    const waits = [...urgent.rows, ...ordinary.rows].map(({ updated_at }) => view.nowMs - updated_at);
    const oldestReadyMs = Math.max(0, ...waits);
    // Warns long before the share that is reserved for codes is used up.
    const hasCapacity = !isMailQueueFull(view, 'other', 0);
    const isHeldUp = isConfigured(view) && isAnyPaused(view);
    return {
      good: oldestReadyMs <= waitMaxMs && hasCapacity && !isHeldUp,
      mails: {
        ready: counts.urgent + counts.ordinary + counts.bulk,
        waiting: counts.waiting,
        leased: counts.leased,
        dead: counts.dead,
      },
      oldestReadyMs,
    };
  },
});
