/** The history of the user's items (docs/protocol/sync.md, "Revisions"). */
import { range } from '../../../runtime/command.ts';
import { revision } from '../../collection/revisions/table.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { purging, userPart } from '../hooks.ts';
import { Revisions } from './contract.ts';
import { revisionCommands, userRevisionTimers } from './revisions.ts';

/** Rows per commit: a removal carries a key alone. */
const purgedAtOnce = 500;

export const revisions = userPart(Revisions, {
  name: 'revisions',
  uses: [ItemSettings],
  slices: [revisionUsageSlice],
  tables: [revision],
  commands: revisionCommands,
  timers: userRevisionTimers,
  on: {
    purge: purging({
      reads: (view, { afterOffset }) => ({
        revisions: range(revision, {
          after: afterOffset,
          through: view.get(revisionUsageSlice).endOffset,
          limit: purgedAtOnce,
          columns: ['item_uuid', 'slot'],
        }),
      }),
      turn: (turn, { revisions: { rows, complete, upTo } }) => {
        for (const { collection, item_uuid, slot } of rows) {
          turn.remove(revision, { collection, item_uuid, slot });
        }
        return {
          left: complete ? 'nothing' : 'more',
          progress: { afterOffset: Math.min(upTo, turn.get(revisionUsageSlice).endOffset) },
        };
      },
    }),
  },
});
