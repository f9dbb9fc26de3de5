/** What an owner of files keeps of them all. */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import type { JobShape, MessageShape } from '../../runtime/contract.ts';
import { slice } from '../../runtime/slice.ts';

interface Ledger {
  /** The sequence number of the file written last. */
  readonly sequence: number;
  /** Numbers of garbage: those in between are in the store still, or may be. */
  readonly removedThrough: number;
  readonly discardedThrough: number;
  /** What all that has been since there was no garbage takes, at most. */
  readonly garbageBytes: number;
  /** When the timer runs that ends uploads; null: not armed. */
  readonly tendAtMs: number | null;
  /** Valet tokens that were issued up to then count no more. */
  readonly voidThroughMs: number;
  /** The sweep of the whole store has been asked for. */
  readonly isSwept: boolean;
}

export const filesSlice = slice<Ledger>({
  name: 'files',
  format: 1,
  schema: z.object({
    sequence: z.int(),
    removedThrough: z.int(),
    discardedThrough: z.int(),
    garbageBytes: z.number().default(0),
    tendAtMs: z.number().nullable(),
    voidThroughMs: z.number(),
    isSwept: z.boolean(),
  }),
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

/** What the owner's kind does later and outside turns, under the names that its contract gives. */
export interface Cleanup {
  /** `cleanup.ts` */
  readonly timer: MessageShape<null>;
  /** `garbage.ts` */
  readonly remove: JobShape<null>;
}

export function change(turn: Turn, changes: Partial<Ledger>): void {
  turn.set(filesSlice, { ...turn.get(filesSlice), ...changes });
}

/** Has the timer run at this time at the latest. */
export function cleanUpAt(turn: Turn, { timer }: Cleanup, atMs: number): void {
  const { tendAtMs } = turn.get(filesSlice);
  if (tendAtMs !== null && tendAtMs <= atMs) return;
  turn.arm(timer, atMs, null);
  change(turn, { tendAtMs: atMs });
}
