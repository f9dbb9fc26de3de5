/** The timer of an owner: ends uploads that were not closed in time, and starts the removal of garbage again. */
import { type Turn, timer } from '../../runtime/command.ts';
import { garbageOf } from './garbage.ts';
import { change, type Duties } from './ledger.ts';
import type { Owner } from './owner.ts';
import { endUploads } from './uploads.ts';

export const tendTimer = (duties: Duties, ownerIn: (turn: Turn) => Owner) =>
  timer({
    ...duties.tend,
    missed: 'fire-once',
    turn: (turn) => {
      change(turn, { tendAtMs: null });
      if (garbageOf(turn) > 0) turn.start(duties.remove, null);
      endUploads(turn, ownerIn(turn), 'overdue');
    },
  });
