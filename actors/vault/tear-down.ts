/** What a vault that has ended still has to do: its items return to their owners, then it is gone itself. */
import { range, type Turn, timer } from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { Vault } from './contract.ts';
import { areFilesGone } from './files/end.ts';
import { standingSlice } from './standing.ts';

/** Longer than a call is repeated: what has ended the vault is answered again as it was. */
const tearDownAfterMs = 900_000;
/** Rows without ciphertext, in one commit. */
const revisionsAtOnceMax = 500;

const { tearDown } = Vault.timers;

export function beginTearDown(turn: Turn): void {
  turn.start(Vault.jobs.returnToOwners, null);
  turn.arm(tearDown, turn.nowMs + tearDownAfterMs, null);
}

/** The history of its items goes with the vault, once they have all returned to their owners; then the actor goes. */
export const tearDownTimer = timer({
  ...tearDown,
  missed: 'fire-once',
  reads: (view) => ({
    revisions: range(revision, {
      after: 0,
      through: view.get(ledgerSlice).endOffset,
      // The last item may go before the turn: one tells whether there are any.
      limit: view.get(head).items === 0 ? revisionsAtOnceMax : 1,
      columns: ['item_uuid', 'slot'],
    }),
  }),
  turn: (turn, _payload, { revisions }) => {
    if (turn.get(standingSlice) !== 'ended') return;
    if (turn.get(head).items > 0 || !areFilesGone(turn)) {
      turn.arm(tearDown, turn.nowMs + tearDownAfterMs, null);
      return;
    }
    for (const { collection, item_uuid, slot } of revisions.rows) {
      turn.remove(revision, { collection, item_uuid, slot });
    }
    if (revisions.complete) turn.tombstone();
    else turn.arm(tearDown, turn.nowMs, null);
  },
});
