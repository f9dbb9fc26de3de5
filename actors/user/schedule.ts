/**
 * The schedule of what an account does at set times: reminders, published reminders and dead man's switches. Each is an entry of
 * one slice map, and may have a mail in the queue. One timer serves all entries of the map, and is armed for the earliest.
 *
 * - Each mail belongs to a round of its entry, and its id contains both. A report on an earlier round finds no entry, and
 *   changes nothing.
 * - A mail that must not leave any more is recalled. The queue reports what it gave back. It keeps a mail that it is sending at
 *   that moment, so it is asked again in case that attempt fails.
 * - An entry that is removed recalls its mail first. Afterwards nothing could name that mail.
 */
import type { Turn, View } from '../../runtime/command.ts';
import type { MessageShape } from '../../runtime/contract.ts';
import type { SliceMap } from '../../runtime/slice.ts';
import { type Mail, tellToRecall } from '../mailer/outgoing.ts';
import { listenerFor, sendMail } from './mails.ts';
import { profileSlice } from './profile.ts';

const askAgainMs = 60_000;

interface ScheduledEntry {
  readonly uuid: string;
  readonly round: number;
}

interface ScheduleOptions<T extends ScheduledEntry> {
  /** Begins the ids of the mails, and is the name by which the part listens for their outcomes. */
  readonly name: string;
  readonly map: SliceMap<T>;
  readonly keyOf: (entry: T) => string;
  readonly timer: MessageShape<null>;
  /** When the timer has to look at an entry. Undefined: not before something else changes. */
  readonly nextMs: (turn: Turn) => (entry: T) => number | undefined;
  /** Recalls the mails of this round that must not arrive any more. */
  readonly recall: (turn: Turn, entry: T) => void;
}

export interface Schedule<T extends ScheduledEntry> {
  all(view: View): readonly T[];
  /** Undefined: the entry is gone, or in another round. */
  find(view: View, uuid: string, round: number): T | undefined;
  arm(turn: Turn): void;
  set(turn: Turn, entry: T): void;
  remove(turn: Turn, entry: T): void;
  /** Call in the commit that deletes the account. */
  forget(turn: Turn): void;
  mailIdOf(entry: T): string;
  /** Sends the mail of this round, and listens for its outcome. */
  mail(
    turn: Turn,
    entry: T,
    mail: Pick<Mail, 'source' | 'recipient' | 'subject' | 'text' | 'messageId'>,
  ): void;
  recallMail(turn: Turn, entry: T): void;
  /** Recalls the mail of an entry that stays. The timer asks again at `nextAtMs`. */
  markRecalled<E extends T>(
    turn: Turn,
    entry: E,
  ): E & { readonly isRecalled: true; readonly nextAtMs: number };
}

export function scheduleOf<T extends ScheduledEntry>(declared: ScheduleOptions<T>): Schedule<T> {
  const { name, map, keyOf, timer, nextMs, recall } = declared;
  const all = (view: View): readonly T[] => [...view.entries(map).values()];
  const mailIdOf = ({ uuid, round }: T): string => `${name}:${uuid}:${round}`;
  const recallMail = (turn: Turn, entry: T): void => tellToRecall(turn, mailIdOf(entry));

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
    mailIdOf,
    mail(turn, entry, mail) {
      const accountSinceMs = turn.get(profileSlice).createdAtMs;
      const listener = listenerFor(turn, name, entry.uuid, entry.round);
      sendMail(turn, { ...mail, id: mailIdOf(entry), accountSinceMs, listener });
    },
    recallMail,
    markRecalled(turn, entry) {
      recallMail(turn, entry);
      return { ...entry, isRecalled: true, nextAtMs: turn.nowMs + askAgainMs };
    },
  };
}
