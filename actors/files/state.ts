/** The state that an owner keeps of all its files together. */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import type { JobShape, MessageShape } from '../../runtime/contract.ts';
import { slice } from '../../runtime/slice.ts';
import { Sweeper, sweeperId } from '../sweeper/contract.ts';
import { type FileRow, file } from './tables.ts';

const stateSchema = z.object({
  /** The sequence number of the file written last. */
  sequence: z.int(),
  /** Numbers of garbage. The rows between these two are still to be removed. */
  removedThrough: z.int(),
  discardedThrough: z.int(),
  /** An upper bound of the bytes of garbage. It restarts at 0 once there is none. */
  garbageBytes: z.number().default(0),
  /** The time of the clean-up timer; null if it is not armed. */
  tendAtMs: z.number().nullable(),
  /** Valet tokens that were issued up to this time are void. */
  voidThroughMs: z.number(),
  /** The sweeper knows that the store holds blobs of this owner. */
  isSwept: z.boolean(),
});
type FilesState = z.infer<typeof stateSchema>;

export const filesSlice = slice<FilesState>({
  name: 'files',
  schema: stateSchema,
  initial: {
    sequence: 0,
    removedThrough: 0,
    discardedThrough: 0,
    garbageBytes: 0,
    tendAtMs: null,
    voidThroughMs: 0,
    isSwept: false,
  },
});

/** The clean-up of an owner outside its turns, under the names in the contract of its kind. */
export interface Cleanup {
  /** It ends overdue uploads (`uploads.ts`). */
  readonly timer: MessageShape<null>;
  /** It removes garbage (`garbage.ts`). */
  readonly remove: JobShape<null>;
}

export function change(turn: Turn, changes: Partial<FilesState>): void {
  turn.set(filesSlice, { ...turn.get(filesSlice), ...changes });
}

/** Writes a file of this owner under the next sequence number. */
export function putRow(turn: Turn, row: Omit<FileRow, 'owner_uuid' | 'sequence'>): void {
  const sequence = turn.get(filesSlice).sequence + 1;
  turn.put(file, { ...row, owner_uuid: turn.self.id, sequence });
  change(turn, { sequence });
}

/** Makes the timer run at this time at the latest. */
export function cleanUpAt(turn: Turn, { timer }: Cleanup, atMs: number): void {
  const { tendAtMs } = turn.get(filesSlice);
  if (tendAtMs !== null && tendAtMs <= atMs) return;
  turn.arm(timer, atMs, null);
  change(turn, { tendAtMs: atMs });
}

/** Tells the sweeper about this owner at their first upload. From then on the sweeper looks for blobs that no row names. */
export function tellSweeper(turn: Turn): void {
  if (turn.get(filesSlice).isSwept) return;
  turn.tell(Sweeper, sweeperId).watch();
  change(turn, { isSwept: true });
}
