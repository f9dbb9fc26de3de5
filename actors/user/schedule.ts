/**
 * What an account has others do at a time: entries of one slice map under one timer, each of which may have a mail in the queue.
 * The timer is armed for what comes first. An entry that goes takes its mail with it, as nobody could recall it later.
 *
 * A mail names its entry and a round of it (`mail-listener.ts`). What is told of another round comes too late, and is not found.
 */
import type { Turn, View } from '../../runtime/command.ts';
import type { MessageShape } from '../../runtime/contract.ts';
import type { SliceMap } from '../../runtime/slice.ts';

interface Scheduled {
  readonly uuid: string;
  readonly round: number;
}

interface Declared<T extends Scheduled> {
  readonly map: SliceMap<T>;
  readonly keyOf: (entry: T) => string;
  readonly timer: MessageShape<null>;
  /** When something comes for an entry. Undefined: nothing, or not now. */
  readonly nextMs: (turn: Turn) => (entry: T) => number | undefined;
  /** Asks the mail queue for whatever has not left. */
  readonly recall: (turn: Turn, entry: T) => void;
}

export interface Schedule<T extends Scheduled> {
  all(view: View): readonly T[];
  /** The entry, if this is its round. */
  find(view: View, uuid: string, round: number): T | undefined;
  arm(turn: Turn): void;
  set(turn: Turn, entry: T): void;
  remove(turn: Turn, entry: T): void;
  /** Removes all of them. */
  forget(turn: Turn): void;
}

export function scheduleOf<T extends Scheduled>(declared: Declared<T>): Schedule<T> {
  const { map, keyOf, timer, nextMs, recall } = declared;
  const all = (view: View): readonly T[] => [...view.entries(map).values()];

  function arm(turn: Turn): void {
    const next = nextMs(turn);
    const dueMs = Math.min(...all(turn).map((entry) => next(entry) ?? Number.POSITIVE_INFINITY));
    if (Number.isFinite(dueMs)) turn.arm(timer, dueMs, null);
    else turn.disarm(timer);
  }

  function drop(turn: Turn, entry: T): void {
    recall(turn, entry);
    turn.removeEntry(map, keyOf(entry));
  }

  return {
    all,
    find: (view, uuid, round) => all(view).find((each) => each.uuid === uuid && each.round === round),
    arm,
    set(turn, entry) {
      turn.setEntry(map, keyOf(entry), entry);
      arm(turn);
    },
    remove(turn, entry) {
      drop(turn, entry);
      arm(turn);
    },
    forget(turn) {
      for (const entry of all(turn)) drop(turn, entry);
      turn.disarm(timer);
    },
  };
}
