import type { Turn } from '../../runtime/command.ts';
import { head, stamp } from '../collection/head.ts';

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
