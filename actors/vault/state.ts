/** The state of the vault as a whole: whether it is open, and the stamp of its last change. */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { head, stamp } from '../collection/head.ts';

/** `ended`: nobody has access any more, and the tear-down has begun. The stored name of the slice is `standing`. */
export const statusSlice = slice<'none' | 'open' | 'ended'>({
  name: 'standing',
  schema: z.enum(['none', 'open', 'ended']),
  initial: 'none',
});

/** The stamp of a change to the vault: its position among all changes, and a time later than that of every earlier change. */
export interface ChangeStamp {
  readonly position: number;
  readonly micros: number;
}

export function nextChangeStamp(turn: Turn): ChangeStamp {
  const before = turn.get(head);
  const { position, updated_at_timestamp: micros } = stamp(before, undefined, turn.nowMicros);
  turn.set(head, { ...before, position, updatedAtMicros: micros });
  return { position, micros };
}
