/** Concludes a departure whose caller died or waited too long after it (see departures.ts). */
import { timer } from '../../../runtime/command.ts';
import { type ConcludeTimer, conclude, concludePlan } from './departures.ts';

export const concludeTimer = (shape: ConcludeTimer) =>
  timer({
    ...shape,
    missed: 'fire-once',
    reads: (view, { id }) => concludePlan(view, id),
    turn: (turn, { id }, reads) => {
      conclude({ turn, id, arrived: [], reads, timer: shape });
    },
  });
