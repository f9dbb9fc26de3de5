/**
 * What a deleted account leaves behind is removed in bounded commits: the timer `purge` ends the next batch of its
 * shares, then takes the next of its items and of its revisions, each in its order, and runs again from there until
 * none are left; then the actor becomes a tombstone. A crash between two batches leaves the timer, which goes on where
 * the last commit stopped.
 */
import { range, timer } from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { User } from './contract.ts';
import { profileSlice } from './profile.ts';
import { endSomeShares } from './public-shares/public-shares.ts';

/** Rows of each table per commit: well below a commit's usual size, as a removal carries a key alone. */
export const purgeBatchItems = 500;

/** Each is a tell. */
const purgeBatchShares = 100;

export const purgeFromStart = { after: 0, afterPlace: 0 };

const { purge } = User.timers;

export const purgeTimer = timer({
  ...purge,
  missed: 'fire-once',
  reads: (view, { after, afterPlace }) => ({
    items: range(item, {
      after,
      through: view.get(head).position,
      limit: purgeBatchItems,
      columns: ['uuid'],
    }),
    revisions: range(revision, {
      after: afterPlace,
      through: view.get(ledgerSlice).place,
      limit: purgeBatchItems,
      columns: ['item_uuid', 'slot'],
    }),
  }),
  turn: (turn, payload, { items, revisions }) => {
    if (turn.get(profileSlice).state !== 'deleted') return;
    if (endSomeShares(turn, purgeBatchShares)) {
      turn.arm(purge, turn.nowMs, payload);
      return;
    }
    for (const { collection, uuid } of items.rows) turn.remove(item, { collection, uuid });
    for (const { collection, item_uuid, slot } of revisions.rows) {
      turn.remove(revision, { collection, item_uuid, slot });
    }
    if (items.complete && revisions.complete) return turn.tombstone();
    turn.arm(purge, turn.nowMs, {
      after: Math.min(items.upTo, turn.get(head).position),
      afterPlace: Math.min(revisions.upTo, turn.get(ledgerSlice).place),
    });
  },
});
