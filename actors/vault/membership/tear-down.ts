/** Removes an ended vault for good, once its items have returned to their owners and its files are gone. */
import { range, type Turn, timer } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { revision } from '../../collection/revisions/table.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { Vault } from '../contract.ts';
import type { RaisedHooks } from '../hooks.ts';
import { statusSlice } from '../state.ts';

/** Longer than a call is repeated, so that a repeat of the call that ended the vault gets its recorded reply. */
const tearDownAfterMs = 900_000;
/** Rows without ciphertext, in one commit. */
const revisionBatchMax = 500;

const { tearDown } = Vault.timers;

export function tearDownLater(turn: Turn): void {
  turn.arm(tearDown, turn.nowMs + tearDownAfterMs, null);
}

/** Removes the history of the vault's items in bounded commits, and then the actor. */
export const tearDownTimer = (hooks: RaisedHooks) =>
  timer(tearDown, {
    reads: (view) => ({
      revisions: range(revision, {
        after: 0,
        through: view.get(revisionUsageSlice).endOffset,
        // The last item may leave before the turn runs. One row is enough to tell whether revisions are left.
        limit: view.get(head).items === 0 ? revisionBatchMax : 1,
        columns: ['item_uuid', 'slot'],
      }),
    }),
    turn: (turn, _payload, { revisions }) => {
      if (turn.get(statusSlice) !== 'ended') return;
      if (hooks('hasRemains').some((hasRemains) => hasRemains(turn))) {
        tearDownLater(turn);
        return;
      }
      for (const { collection, item_uuid, slot } of revisions.rows) {
        turn.remove(revision, { collection, item_uuid, slot });
      }
      if (revisions.complete) turn.tombstone();
      else turn.arm(tearDown, turn.nowMs, null);
    },
  });
