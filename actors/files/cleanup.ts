/** The timer of an owner. It ends uploads that were not closed in time, and starts the removal of garbage again. */
import { type Turn, timer } from '../../runtime/command.ts';
import { garbageOf } from './garbage.ts';
import type { Owner } from './owner.ts';
import { type Cleanup, change } from './state.ts';
import { endUploads } from './uploads.ts';

export const cleanupTimer = (cleanup: Cleanup, ownerIn: (turn: Turn) => Owner) =>
  timer({
    ...cleanup.timer,
    missed: 'fire-once',
    turn: (turn) => {
      change(turn, { tendAtMs: null });
      if (garbageOf(turn) > 0) turn.start(cleanup.remove, null);
      endUploads(turn, ownerIn(turn), 'overdue');
    },
  });
