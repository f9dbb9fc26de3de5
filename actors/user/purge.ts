/**
 * Removing what a deleted account leaves: each part that keeps rows of the user says how to remove a bounded number
 * of them, and the timer `purge` comes again until none are left; then the actor is buried.
 */
import type { PlanResults, Plans, TimerHandler, Turn, View } from '../../runtime/command.ts';
import { profileSlice } from './profile.ts';

/** One part's rows. The plans of different parts have different names. */
export interface Purge<P extends Plans = Plans> {
  /** The rows to remove next. */
  readonly reads: (view: View) => P;
  /** Removes them. True: there may be more. */
  readonly turn: (turn: Turn, reads: PlanResults<P>) => boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: parts with plans of any shape
export function createPurgeTimer(parts: readonly Purge<any>[]): TimerHandler {
  return {
    missed: 'fire-once',
    reads: (view) => Object.assign({}, ...parts.map((part) => part.reads(view))),
    turn: (turn, _payload, reads) => {
      if (turn.get(profileSlice).state !== 'deleted') return;
      const more = parts.map((part) => part.turn(turn, reads)).includes(true);
      if (more) turn.arm('purge', turn.nowMs);
      else turn.bury();
    },
  };
}
