/**
 * What a deleted account leaves behind is removed in bounded commits, by the timer `purge`. Each feature removes a batch of its own
 * (the hooks `purgeFirst` and `purge`): first one feature after the other, as what they tell others bounds a commit; then the
 * bulk of them, side by side in each commit. The timer runs again from there until only forwarding tombstones are left, and no
 * blob of the account's files in the store; then the actor becomes a tombstone. A crash between two batches leaves the timer,
 * which goes on where the last commit stopped.
 */
import { type PlanResults, type Plans, timer } from '../../runtime/command.ts';
import { Account } from './account/contract.ts';
import type { PurgeProgress, RaisedHooks } from './hooks.ts';
import { profileSlice } from './profile.ts';

/** Until what waits for something outside is looked at again: blobs in the store, or calls that were under way. */
const pauseMs = 60_000;

export const purgeFromStart: PurgeProgress = { after: 0, afterOffset: 0 };

const { purge } = Account.timers;

export const purgeTimer = (hooks: RaisedHooks) =>
  timer({
    ...purge,
    missed: 'fire-once',
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

/** The plans of all steps are read at once, so their names are made different. */
const numbered = (plans: Plans, index: number): Plans =>
  Object.fromEntries(Object.entries(plans).map(([name, plan]) => [`${index} ${name}`, plan]));

function readsOf(reads: PlanResults<Plans>, index: number): PlanResults<Plans> {
  const prefix = `${index} `;
  const own = Object.entries(reads).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, read]) => [name.slice(prefix.length), read]));
}
