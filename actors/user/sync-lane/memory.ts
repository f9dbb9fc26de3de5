/**
 * What the actor keeps of the lane in memory alone: redeemed tickets, held commands, and the last commands that changed
 * nothing.
 *
 * All of it may be lost. A ticket names its activation, and no other activation accepts it. A command whose hold is lost does
 * not run.
 *
 * Turns write here, and a turn may run more than once. So each write names its author, and a second write of the same author
 * changes nothing. The result of a command is written after its turn, as it depends on what the turn has read.
 */
import type { Activation, View } from '../../../runtime/command.ts';
import type { JournalEntry } from './entry.ts';

interface CommandClaim {
  readonly by: string;
  readonly untilMs: number;
}

/** More than a user's devices ask for in the life of a ticket. */
const redeemedMax = 256;
/** More than a user's sockets have at a time. */
const heldMax = 128;
const recentMax = 16;
/** Longer than a command may take from its request on. */
const holdMs = 30_000;

class LaneMemory {
  readonly #redeemed = new Map<string, CommandClaim>();
  readonly #held = new Map<string, CommandClaim>();
  readonly #recent = new Map<string, JournalEntry>();

  /** False: another attempt has the ticket, or there are too many. */
  spend(nonce: string, by: string, untilMs: number, nowMs: number): boolean {
    const claim = this.#redeemed.get(nonce);
    if (claim !== undefined) return claim.by === by;
    dropEnded(this.#redeemed, nowMs);
    if (this.#redeemed.size >= redeemedMax) return false;
    this.#redeemed.set(nonce, { by, untilMs });
    return true;
  }

  /** False: another attempt holds the command, or there are too many. */
  hold(key: string, by: string, nowMs: number): boolean {
    dropEnded(this.#held, nowMs);
    const holder = this.#held.get(key)?.by;
    if (holder === undefined ? this.#held.size >= heldMax : holder !== by) return false;
    this.#held.set(key, { by, untilMs: nowMs + holdMs });
    return true;
  }

  /** The attempt that may run this command. */
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

/** Other sessions do not find the command. */
export const commandKey = (sessionUuid: string, commandId: string): string => `${sessionUuid} ${commandId}`;
