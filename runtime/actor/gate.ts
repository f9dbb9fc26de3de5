/**
 * The output gate of one actor. It keeps the outcomes of turns until their commit is durable.
 *
 * Turns run one after another on the speculative state: the durable state plus the writes of earlier turns. The gate merges
 * their writes into the pending commit while at most one commit of the actor is in flight. An outcome, good or bad, that may
 * depend on speculative state leaves only when the commit with that state is durable.
 */
import { PendingCommit, type WaitingOutcome } from '../commit/pending-commit.ts';
import type { RecordedTurn } from './turn.ts';

/** A commit that the committer has, and whose answer is not known. */
export interface CommitInFlight {
  readonly pending: PendingCommit;
  readonly commitId: string;
}

export class Gate {
  #pending = new PendingCommit(1);
  #flight: CommitInFlight | undefined;

  get flight(): CommitInFlight | undefined {
    return this.#flight;
  }

  /** Turns wait to be committed. */
  get hasPending(): boolean {
    return !this.#pending.isEmpty;
  }

  get isEmpty(): boolean {
    return !this.hasPending && this.#flight === undefined;
  }

  get pendingBytes(): number {
    return this.#pending.bytes;
  }

  /** How many outcomes wait. */
  get size(): number {
    return this.#pending.carried.length + (this.#flight?.pending.carried.length ?? 0);
  }

  /** Everything that waits, in the order in which the turns ran. */
  get carried(): readonly WaitingOutcome[] {
    return [...(this.#flight?.pending.carried ?? []), ...this.#pending.carried];
  }

  get pendingOutcomes(): readonly WaitingOutcome[] {
    return this.#pending.carried;
  }

  /** Whether another turn may join the pending commit. A turn to be committed alone joins an empty one only. */
  admits(turn: { readonly unmerged: boolean }, pendingBytesMax: number): boolean {
    if (this.#pending.isClosed || this.#pending.bytes >= pendingBytesMax) return false;
    return !turn.unmerged || !this.hasPending;
  }

  /** Whether the writes of a turn have to wait until the pending commit is durable (see `PendingCommit.frees`). */
  mustWait(recorded: RecordedTurn): boolean {
    return this.#pending.frees(recorded);
  }

  /** No turn joins the pending commit any more. */
  closePending(): void {
    this.#pending.isClosed = true;
  }

  /** Keeps an outcome without writes until the last commit that it may depend on is durable. False if there is none. */
  hold(outcome: WaitingOutcome): boolean {
    const last = this.hasPending ? this.#pending : this.#flight?.pending;
    last?.carried.push(outcome);
    return last !== undefined;
  }

  /** Adds the writes of a turn to the pending commit, and keeps its outcome. Returns the number of that commit. */
  addPending(outcome: WaitingOutcome, recorded: RecordedTurn): number {
    this.#pending.carried.push(outcome);
    this.#pending.add(recorded);
    if (outcome.queued.unmerged) this.closePending();
    return this.#pending.number;
  }

  /** The pending commit goes into flight, and the next one begins. */
  launch(commitId: string): PendingCommit {
    const pending = this.#pending;
    this.#flight = { pending, commitId };
    this.#pending = new PendingCommit(pending.number + 1);
    return pending;
  }

  /** The commit in flight is durable. */
  land(): void {
    this.#flight = undefined;
  }

  /** Forgets everything that is not durable. */
  clear(durableCommit: number): void {
    this.#flight = undefined;
    this.#pending = new PendingCommit(durableCommit + 1);
  }
}

/**
 * The turns whose writes may have made this commit fail. A turn that is committed alone comes first, and the turns that joined
 * it wrote nothing.
 */
export function possibleCauses({ carried }: PendingCommit): readonly WaitingOutcome[] {
  return carried[0]?.queued.unmerged ? carried.slice(0, 1) : carried;
}
