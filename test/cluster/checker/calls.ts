/** The calls of a history, each with its caller and the times of its first and last sending. */

import type { Entry, Timed, Write } from '../history.ts';
import type { Operation } from '../operations.ts';

export interface Call {
  readonly id: number;
  readonly user: string;
  readonly device: string;
  readonly writes: readonly Write[];
  readonly operation: Operation | undefined;
  /** Positions in the history. */
  readonly firstSent: number;
  lastSent: number;
}

/** Goes through a history in order, with the call that each entry belongs to. */
export function* walk(entries: readonly Timed[]): Generator<{
  readonly at: number;
  readonly entry: Entry;
  readonly call: Call | undefined;
}> {
  const calls = new Map<number, Call>();
  for (const [at, entry] of entries.entries()) {
    if (entry.event === 'sent') {
      const { call: id, user, device, writes } = entry;
      calls.set(id, { id, user, device, writes, operation: undefined, firstSent: at, lastSent: at });
    }
    if (entry.event === 'asked') {
      const { call: id, user, device, operation } = entry;
      calls.set(id, { id, user, device, writes: [], operation, firstSent: at, lastSent: at });
    }
    const call = 'call' in entry ? calls.get(entry.call) : undefined;
    if (entry.event === 'repeated' && call !== undefined) call.lastSent = at;
    yield { at, entry, call };
  }
}
