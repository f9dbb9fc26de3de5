/**
 * Things that an account does at a certain time: reminders, published reminders, switches. Each is an entry of one slice map,
 * and may have a mail in the queue. One timer serves all entries of the map, and is armed for the earliest.
 *
 * - Each mail belongs to a round of its entry (`mails.ts`). A report on an earlier round finds no entry, and changes nothing.
 * - An entry that is removed recalls its mail first. Afterwards nothing could name that mail.
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
  /** When the timer has to look at an entry. Undefined: not before something else changes. */
  readonly nextMs: (turn: Turn) => (entry: T) => number | undefined;
  /** Asks the mail queue to give back the mail of this round, unless it has left. */
  readonly recall: (turn: Turn, entry: T) => void;
}

export interface Schedule<T extends Scheduled> {
  all(view: View): readonly T[];
  /** Undefined: the entry is gone, or in another round. */
  find(view: View, uuid: string, round: number): T | undefined;
  arm(turn: Turn): void;
  set(turn: Turn, entry: T): void;
  remove(turn: Turn, entry: T): void;
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
