import type { Turn } from '../../runtime/command.ts';
import { head, stamp } from '../collection/head.ts';

/** When something of the vault changes: its place among all changes, and a time later than every one given before. */
export interface Moment {
  readonly position: number;
  readonly micros: number;
}

export function nextMoment(turn: Turn): Moment {
  const before = turn.get(head);
  const { position, updated_at_timestamp: micros } = stamp(before, undefined, turn.nowMicros);
  turn.set(head, { ...before, position, updatedAtMicros: micros });
  return { position, micros };
}
