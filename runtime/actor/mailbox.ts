/**
 * The messages that wait at an actor, in order, each with the reads that its turn needs. A message's plan names these reads.
 *
 * A read begins when its message arrives, so it overlaps with the turns before. The writes of those turns overlay its answer
 * (`rows.ts`). When the actor returns to its durable state, every read begins again, because its plan or its answer may rest on
 * state that never became durable.
 *
 * Earlier turns may also change the state from which a plan was made. If a turn then asks for a row outside its plan, its message
 * goes back to the front of the mailbox and is planned again.
 */
import type { Plans } from '../command.ts';
import type { NegativeCache } from '../read/negative-cache.ts';
import type { StoreRead, StoreRows } from '../store/store.ts';
import type { Message, QueuedMessage } from './message.ts';
import { queued } from './message.ts';
import { answerPlans, type ReadAnswers } from './reads.ts';
import type { Rows } from './rows.ts';
import type { StateView } from './turn.ts';

export interface MailboxOptions {
  readonly owner: string;
  readonly rows: Rows;
  readonly negativeCache: NegativeCache;
  read(reads: readonly StoreRead[]): Promise<readonly StoreRows[]>;
  /** The state from which a plan is made. */
  view(entry: QueuedMessage): StateView;
  durableCommit(): number;
  /** Called when the reads of some message have answers. */
  onReady(): void;
}

export class Mailbox {
  readonly #options: MailboxOptions;
  #entries: QueuedMessage[] = [];

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.length;
  }

  get next(): QueuedMessage | undefined {
    return this.#entries[0];
  }

  get isNextReady(): boolean {
    const reads = this.next?.reads;
    return reads !== undefined && (reads.answers !== undefined || reads.error !== undefined);
  }

  get messages(): readonly Message[] {
    return this.#entries.map((entry) => entry.message);
  }

  push(message: Message, arrivedMs: number): QueuedMessage {
    const entry = queued(message, arrivedMs);
    this.#entries.push(entry);
    return entry;
  }

  /** Removes the next message. From then on memory need not keep rows for its reads. */
  take(): QueuedMessage | undefined {
    const entry = this.#entries.shift();
    if (entry !== undefined) this.#end(entry);
    return entry;
  }

  /** Puts a message that `take` has returned back to the front, and begins its reads again. */
  requeue(entry: QueuedMessage): void {
    this.#entries.unshift(entry);
    this.begin(entry);
  }

  /** Removes every message that the predicate accepts. */
  takeWhere(predicate: (entry: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const matching = this.#entries.filter(predicate);
    if (matching.length === 0) return matching;
    this.#entries = this.#entries.filter((entry) => !predicate(entry));
    for (const entry of matching) this.#end(entry);
    return matching;
  }

  /** Puts messages whose turns must run again before all others, and begins every read again. */
  restart(again: readonly QueuedMessage[]): void {
    this.#entries = [...again, ...this.#entries];
    for (const entry of this.#entries) {
      this.#end(entry);
      entry.reads = undefined;
    }
    this.beginAll();
  }

  /** Begins every read that has not begun. */
  beginAll(): void {
    for (const entry of this.#entries) if (entry.reads === undefined) this.begin(entry);
  }

  begin(entry: QueuedMessage): void {
    const isEarly = entry !== this.next;
    try {
      this.#plan(entry, entry.message.plans(this.#options.view(entry)), isEarly);
    } catch (error) {
      entry.reads = { plans: {}, isEarly, ticket: undefined, answers: undefined, error };
    }
  }

  #plan(entry: QueuedMessage, plans: Plans, isEarly: boolean): void {
    const { owner, rows, negativeCache, durableCommit, read } = this.#options;
    const answers = answerPlans(plans, owner, { rows, negativeCache }, read);
    // The ticket makes memory keep the rows of later commits until the turn runs. A plan that memory answers alone needs it too.
    const ticket = Object.keys(plans).length === 0 ? undefined : rows.begin(durableCommit());
    const isKnown = !(answers instanceof Promise);
    entry.reads = { plans, isEarly, ticket, answers: isKnown ? answers : undefined, error: undefined };
    if (!isKnown) this.#await(entry, answers);
  }

  #await(entry: QueuedMessage, answers: Promise<ReadAnswers>): void {
    const { reads } = entry;
    if (reads === undefined) return;
    const span = entry.message.span?.child('reads');
    const done = () => {
      span?.end();
      // The reads may have begun again meanwhile. Then nobody waits for this answer.
      if (entry.reads === reads) this.#options.onReady();
    };
    answers.then(
      (found) => {
        reads.answers = found;
        done();
      },
      (error) => {
        reads.error = error;
        done();
      },
    );
  }

  #end(entry: QueuedMessage): void {
    if (entry.reads?.ticket !== undefined) this.#options.rows.end(entry.reads.ticket);
  }
}
