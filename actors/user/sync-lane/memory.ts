/**
 * What the user's actor keeps of the lane while it is in memory, and no longer: spent tickets, held commands, and the
 * last commands that changed nothing. All of it may be lost. A ticket names the activation that it was made in and is worth
 * nothing in another, and a command whose hold is lost is not carried out.
 *
 * Turns write here, although a turn may run more than once: every write names who makes it, and writing it again
 * changes nothing. The answer of a command is written after its turn, as it rests on what the turn has seen.
 */
import type { Activation, View } from '../../../runtime/command.ts';
import type { JournalEntry } from './entry.ts';

interface Spent {
  readonly by: string;
  readonly untilMs: number;
}

interface Held {
  readonly by: string;
  readonly untilMs: number;
}

/** More than a user's devices ask for in the life of a ticket. */
const spentMax = 256;
/** More than a user's sockets have at a time. */
const heldMax = 128;
const recentMax = 16;
/** Longer than a command may take once it was asked for. */
const holdMs = 30_000;

class LaneMemory {
  readonly #spent = new Map<string, Spent>();
  readonly #held = new Map<string, Held>();
  readonly #recent = new Map<string, JournalEntry>();

  /** Whether this attempt has the ticket. False: it was spent by another, or too many were. */
  spend(nonce: string, by: string, untilMs: number, nowMs: number): boolean {
    const spent = this.#spent.get(nonce);
    if (spent !== undefined) return spent.by === by;
    dropEnded(this.#spent, nowMs);
    if (this.#spent.size >= spentMax) return false;
    this.#spent.set(nonce, { by, untilMs });
    return true;
  }

  /** False: another attempt holds it, or too many are held. */
  hold(key: string, by: string, nowMs: number): boolean {
    dropEnded(this.#held, nowMs);
    const holder = this.#held.get(key)?.by;
    if (holder === undefined ? this.#held.size >= heldMax : holder !== by) return false;
    this.#held.set(key, { by, untilMs: nowMs + holdMs });
    return true;
  }

  /** Who may carry out this command. */
  holder(key: string, nowMs: number): string | undefined {
    const held = this.#held.get(key);
    return held !== undefined && nowMs < held.untilMs ? held.by : undefined;
  }

  release(key: string, by: string): void {
    if (this.#held.get(key)?.by === by) this.#held.delete(key);
  }

  remember(key: string, entry: JournalEntry): void {
    this.#recent.delete(key);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size >= recentMax && oldest !== undefined) this.#recent.delete(oldest);
    this.#recent.set(key, entry);
  }

  recent(key: string): JournalEntry | undefined {
    return this.#recent.get(key);
  }
}

const memories = new WeakMap<Activation, LaneMemory>();

export function laneMemory({ activation }: Pick<View, 'activation'>): LaneMemory {
  const known = memories.get(activation);
  if (known !== undefined) return known;
  const memory = new LaneMemory();
  memories.set(activation, memory);
  return memory;
}

function dropEnded(entries: Map<string, { readonly untilMs: number }>, nowMs: number): void {
  for (const [key, { untilMs }] of entries) if (nowMs >= untilMs) entries.delete(key);
}

/** A command is its session's: no other finds it. */
export const commandKey = (sessionUuid: string, commandId: string): string => `${sessionUuid} ${commandId}`;
