import type { Turn } from '../../runtime/command.ts';
import { Sweeper, sweeperId } from '../sweeper/contract.ts';
import { change, filesSlice } from './state.ts';

/** From the first upload of an owner on, the sweep looks for what is left of theirs. */
export function haveWatched(turn: Turn): void {
  if (turn.get(filesSlice).isSwept) return;
  turn.tell(Sweeper, sweeperId).watch();
  change(turn, { isSwept: true });
}
