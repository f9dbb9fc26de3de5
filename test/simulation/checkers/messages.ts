/**
 * Compares the messages at the messenger providers with the clients' published reminders. The checker knows a message
 * by its text, which no two occurrences of a reminder share: `<the reminder's id>/<the occurrence>`.
 * - Every owed message arrives, or its owner is told that this is unknown or that it was refused. A stopped message does not. An
 *   uncertain one may arrive at any time, even after a user has opted out or published it for a later time. No server can stop a
 *   message that may have left it. A user who opts out is told so.
 * - Nothing begins before it is due, nor before the commit that says that it is in flight.
 * - Nothing begins twice, unless the provider said that it did not take it.
 * - Everything that its owner sees at the end is true.
 */
import type { Address } from '../../../runtime/address.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import { startOfTimeMs } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

export interface MessageAttempt {
  readonly text: string;
  readonly inFlights: number;
  /** `asked`: the provider has received nothing. `begun`: it may have. */
  fate: 'asked' | 'begun' | 'taken' | 'not-taken';
}

interface StoredMessage {
  readonly state: string;
  readonly round: number;
  /** No two occurrences of a reminder have the same. */
  readonly dueAtMs: number;
}

export interface MessageCheckerOptions {
  readonly report: Report;
  readonly durable: Durable;
  readonly time: SimulatedTime;
  readonly skewMs: number;
}

const family = 'published-reminder:';
const over = ['accepted', 'sent', 'failed', 'uncertain'];

export class MessageChecker implements Checker {
  readonly name = 'messages';
  readonly #options: MessageCheckerOptions;
  readonly #attempts = new Map<string, MessageAttempt[]>();
  /** Keyed by the reminder's id. */
  readonly #owners = new Map<string, Address>();
  readonly #inFlights = new Map<string, number>();
  readonly #rounds = new Map<string, number>();
  /** Keyed by occurrence. */
  readonly #dues = new Map<string, number>();
  readonly #uncertain = new Set<string>();
  readonly #owed = new Set<string>();
  readonly #stopped = new Set<string>();

  constructor(options: MessageCheckerOptions) {
    this.#options = options;
  }

  // --- the promises to clients ------------------------------------------------------------------------------

  due(name: string, dueMs: number): void {
    this.#dues.set(name, dueMs);
  }

  owes(name: string): void {
    this.#owed.add(name);
  }

  mayBeStopped(name: string): void {
    this.#owed.delete(name);
  }

  /** A client received the answer that it will not be sent any more. */
  stopped(name: string): void {
    this.#stopped.add(name);
  }

  /** A later occurrence has taken its place. */
  replaced(name: string): void {
    if (!this.#uncertain.has(name)) this.stopped(name);
  }

  /** `isDispatched`: the client was told that at least one of them may have left. */
  optedOut(names: readonly string[], isDispatched: boolean): void {
    for (const name of names) if (!isDispatched || !this.#uncertain.has(name)) this.stopped(name);
  }

  /** The owner's view of it, once everything is at rest. */
  reported(name: string, state: string): void {
    const attempts = this.#attempts.get(name) ?? [];
    const isTaken = attempts.some(({ fate }) => fate === 'taken');
    if (state === 'sent' && !isTaken) this.#options.report(`${name} is shown as sent and was not taken`);
    if (state === 'failed' && isTaken) this.#options.report(`${name} is shown as failed and was taken`);
    if (!over.includes(state) && attempts.some(({ fate }) => fate !== 'not-taken'))
      this.#options.report(`${name} is shown as ${state}, though a provider may have it`);
  }

  // --- the providers' view ----------------------------------------------------------------------------------

  attempted(text: string): MessageAttempt {
    return { text, inFlights: this.#inFlights.get(idOf(text)) ?? 0, fate: 'asked' };
  }

  begun(attempt: MessageAttempt): void {
    const name = nameOf(attempt.text);
    const before = this.#attempts.get(name) ?? [];
    this.#attempts.set(name, [...before, attempt]);
    attempt.fate = 'begun';
    const { report, skewMs } = this.#options;
    if ((this.#inFlights.get(idOf(attempt.text)) ?? 0) <= attempt.inFlights)
      report(`${name} began, and was not in flight`);
    if (before.some(({ fate }) => fate !== 'not-taken')) report(`${name} began twice`);
    if (this.#stopped.has(name)) report(`${name} began although it was stopped`);
    const earlyMs = (this.#dues.get(name) ?? 0) - skewMs - this.#nowMs();
    if (earlyMs > 0) report(`${name} began ${earlyMs} ms early`);
  }

  ended(attempt: MessageAttempt, isTaken: boolean): void {
    attempt.fate = isTaken ? 'taken' : 'not-taken';
  }

  // --- the durable state ------------------------------------------------------------------------------------

  committed({ address, writes }: Commit): void {
    for (const write of writes) {
      if (write.table.name !== 'slice' || !('put' in write)) continue;
      const slice = String(write.put['slice']);
      if (!slice.startsWith(family)) continue;
      const id = slice.slice(family.length);
      this.#owners.set(id, address);
      const { state, round, dueAtMs } = this.#stored(id) ?? { state: '', round: 0, dueAtMs: 0 };
      if (state === 'uncertain') this.#becameUncertain(id, dueAtMs);
      if (state !== 'in-flight' || this.#rounds.get(id) === round) continue;
      this.#rounds.set(id, round);
      this.#inFlights.set(id, (this.#inFlights.get(id) ?? 0) + 1);
    }
  }

  #becameUncertain(id: string, dueAtMs: number): void {
    for (const [name, dueMs] of this.#dues) {
      if (idOf(name) === id && dueMs === dueAtMs) this.#uncertain.add(name);
    }
  }

  /** The obstacles that keep published reminders from coming to rest. */
  pending(): string | undefined {
    for (const id of this.#owners.keys()) {
      const state = this.#stored(id)?.state;
      if (state === 'claimed' || state === 'in-flight' || state === 'accepted') return `${id} is ${state}`;
    }
    for (const name of this.#owed) {
      if (!over.includes(this.#stored(idOf(name))?.state ?? '')) return `${name} is owed`;
    }
    return undefined;
  }

  atRest(): void {
    for (const name of this.#owed) {
      const state = this.#stored(idOf(name))?.state;
      const isTaken = this.#attempts.get(name)?.some(({ fate }) => fate === 'taken') ?? false;
      if (!isTaken && state !== 'failed' && state !== 'uncertain')
        this.#options.report(`${name} is owed, is ${state} and never arrived`);
    }
  }

  #stored(id: string): StoredMessage | undefined {
    const owner = this.#owners.get(id);
    return owner && this.#options.durable.slice<StoredMessage>(owner, `${family}${id}`);
  }

  #nowMs(): number {
    return startOfTimeMs + this.#options.time.nowMs;
  }
}

/** The due date precedes it. */
const nameOf = (text: string): string => text.slice(text.lastIndexOf(' ') + 1);
const idOf = (text: string): string => nameOf(text).split('/')[0] ?? '';
