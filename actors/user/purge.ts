/**
 * What a deleted account leaves behind is removed in bounded commits: the timer `purge` tells the next of its vaults, ends
 * the next batch of its shares and the next part of its inbox, its to-dos and its journal of commands, then takes the next of its items, its revisions and its
 * files, each in its order, and runs again from there until only stubs are left, and no blob of its files in the store; then the
 * actor becomes a tombstone. A crash between two batches leaves the timer, which goes on where the last commit stopped.
 */
import { type PlanResults, range, type Turn, timer } from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { item, stubColumns } from '../collection/item.ts';
import { removeItems } from '../collection/remove.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { Vault } from '../vault/contract.ts';
import { hasSlotsOut, purgeSomeTodos, todosLeftPlan } from './calendar/forget.ts';
import { User } from './contract.ts';
import { purgeFiles, purgeFilesPlan } from './files/by-token.ts';
import { inboxPurgePlans, purgeSomeInbox } from './inbox/purge.ts';
import { profileSlice } from './profile.ts';
import { endSomeShares } from './public-shares/public-shares.ts';
import { commandsLeftPlan, purgeSomeCommands } from './sync-lane/journal.ts';
import { leaveSomeVaults } from './vaults/memberships.ts';

/** Rows of each table per commit: well below a commit's usual size, as a removal carries a key alone. */
export const purgeBatchItems = 500;

/** Until the store is looked at again that still has blobs of the account, or calls that were under way are over. */
const pauseMs = 60_000;

/** Each is a tell. */
const purgeBatchVaults = 100;
const purgeBatchShares = 100;

export const purgeFromStart = { after: 0, afterPlace: 0 };

const { purge } = User.timers;

export const purgeTimer = timer({
  ...purge,
  missed: 'fire-once',
  reads: (view, { after, afterPlace }) => ({
    ...inboxPurgePlans(view),
    items: range(item, {
      after,
      through: view.get(head).position,
      limit: purgeBatchItems,
      columns: stubColumns,
    }),
    revisions: range(revision, {
      after: afterPlace,
      through: view.get(ledgerSlice).place,
      limit: purgeBatchItems,
      columns: ['item_uuid', 'slot'],
    }),
    files: purgeFilesPlan(view),
    todos: todosLeftPlan(view),
    ...commandsLeftPlan(view),
  }),
  turn: (turn, payload, { items, revisions, files, todos, oldest, ...inbox }) => {
    if (turn.get(profileSlice).state !== 'deleted') return;
    if (
      leaveSomeVaults(turn, purgeBatchVaults) ||
      endSomeShares(turn, purgeBatchShares) ||
      purgeInbox(turn, inbox) ||
      purgeSomeTodos(turn, todos) ||
      purgeSomeCommands(turn, { oldest })
    ) {
      turn.arm(purge, turn.nowMs, payload);
      return;
    }
    removeItems(turn, items.rows);
    for (const { collection, item_uuid, slot } of revisions.rows) {
      turn.remove(revision, { collection, item_uuid, slot });
    }
    const isThrough = items.complete && revisions.complete;
    const left = purgeFiles(turn, files);
    const waitsForSlots = hasSlotsOut(turn);
    if (isThrough && left === 'nothing' && !waitsForSlots) return turn.tombstone();
    const isWaiting = left === 'garbage' || (left === 'nothing' && waitsForSlots);
    const dueMs = turn.nowMs + (isThrough && isWaiting ? pauseMs : 0);
    turn.arm(purge, dueMs, {
      after: Math.min(items.upTo, turn.get(head).position),
      afterPlace: Math.min(revisions.upTo, turn.get(ledgerSlice).place),
    });
  },
});

/** Nobody waits for an answer to an invite that cannot come any more. */
function purgeInbox(turn: Turn, inbox: PlanResults<ReturnType<typeof inboxPurgePlans>>): boolean {
  for (const { vault_uuid } of inbox.invites.rows) turn.tell(Vault, vault_uuid).userGone();
  return purgeSomeInbox(turn, inbox);
}
