import type { Turn } from '../../runtime/command.ts';
import { Sweeper, sweeperId } from '../sweeper/contract.ts';
import { change, filesSlice } from './state.ts';

/** Tells the sweeper of this owner, with their first upload. From then on it looks for blobs that no row names. */
export function haveWatched(turn: Turn): void {
  if (turn.get(filesSlice).isSwept) return;
  turn.tell(Sweeper, sweeperId).watch();
  change(turn, { isSwept: true });
}
