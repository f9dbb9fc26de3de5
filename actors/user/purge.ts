/**
 * What a deleted account leaves behind is removed in bounded commits: the timer `purge` ends the next batch of its
 * shares, then takes the next of its items, in the order of their positions, and runs again from there until none are
 * left; then the actor becomes a tombstone. A crash between two batches leaves the timer, which goes on where the last commit
 * stopped.
 */
import { range, timer } from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { User } from './contract.ts';
import { profileSlice } from './profile.ts';
import { endSomeShares } from './public-shares/public-shares.ts';

/** Rows per commit: well below a commit's usual size, as a removal carries a key alone. */
export const purgeBatchItems = 500;

/** Each is a tell. */
const purgeBatchShares = 100;

export const purgeFromStart = { after: 0 };

const { purge } = User.timers;

export const purgeTimer = timer({
  ...purge,
  missed: 'fire-once',
  reads: (view, { after }) => ({
    batch: range(item, {
      after,
      through: view.get(head).position,
      limit: purgeBatchItems,
      columns: ['uuid'],
    }),
  }),
  turn: (turn, { after }, { batch }) => {
    if (turn.get(profileSlice).state !== 'deleted') return;
    if (endSomeShares(turn, purgeBatchShares)) {
      turn.arm(purge, turn.nowMs, { after });
      return;
    }
    for (const { collection, uuid } of batch.rows) turn.remove(item, { collection, uuid });
    const last = batch.rows.at(-1);
    if (batch.complete || last === undefined) turn.tombstone();
    else turn.arm(purge, turn.nowMs, { after: last.position });
  },
});
