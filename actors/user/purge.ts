/**
 * The timer `purge` removes what a deleted account leaves behind, in commits of bounded size.
 *
 * - First each `purgeFirst` hook runs until it has nothing left, one feature after the other. They tell other actors, and the
 *   number of tells bounds a commit.
 * - Then all `purge` hooks remove rows, side by side in each commit. The timer repeats until only forwarding tombstones are
 *   left, and the file store has no blob of the account.
 * - At last the actor becomes a tombstone. A crash between two commits leaves the timer, which goes on from the last one.
 */
import { type PlanResults, type Plans, timer } from '../../runtime/command.ts';
import { Account } from './account/contract.ts';
import type { PurgeProgress, RaisedHooks } from './hooks.ts';
import { profileSlice } from './profile.ts';

/** How long to wait for something outside the actor: for blobs in the store, or for calls that were under way. */
const pauseMs = 60_000;

export const purgeFromStart: PurgeProgress = { after: 0, afterOffset: 0 };

const { purge } = Account.timers;

export const purgeTimer = (hooks: RaisedHooks) =>
  timer(purge, {
    reads: (view, progress) => {
      const plans = stepsOf(hooks).map(({ reads }) => reads?.(view, progress) ?? {});
      return Object.assign({}, ...plans.map(numbered)) as Plans;
    },
    turn: (turn, progress, reads) => {
      if (turn.get(profileSlice).state !== 'deleted') return;
      const run = stepsOf(hooks).map((step, index) => () => step.turn(turn, readsOf(reads, index)));
      const first = run.splice(0, hooks('purgeFirst').length);
      if (first.some((batch) => batch().left === 'more')) return turn.arm(purge, turn.nowMs, progress);
      const batches = run.map((batch) => batch());
      if (batches.every(({ left }) => left === 'nothing')) return turn.tombstone();
      const isWaiting = batches.every(({ left }) => left !== 'more');
      const next = Object.assign({ ...progress }, ...batches.map((batch) => batch.progress));
      turn.arm(purge, turn.nowMs + (isWaiting ? pauseMs : 0), next);
    },
  });

const stepsOf = (hooks: RaisedHooks) => [...hooks('purgeFirst'), ...hooks('purge')];

/** All hooks read in one plan, so the number of the hook makes each name unique. */
const numbered = (plans: Plans, index: number): Plans =>
  Object.fromEntries(Object.entries(plans).map(([name, plan]) => [`${index} ${name}`, plan]));

function readsOf(reads: PlanResults<Plans>, index: number): PlanResults<Plans> {
  const prefix = `${index} `;
  const own = Object.entries(reads).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, read]) => [name.slice(prefix.length), read]));
}
