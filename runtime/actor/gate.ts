/**
 * The output gate of one actor (design 1.4 and 4.1): what waits for a commit.
 *
 * Turns run one after another on the speculative state (durable state + what earlier turns wrote). What they write is
 * gathered; at most one commit of the actor is in flight, and the next gathers meanwhile. An outcome, good or bad,
 * that may have seen speculative state leaves only when the commit that carries that state is durable.
 */
import { type Carried, Gathering } from '../commit/gathering.ts';
import type { Recorded } from './turn.ts';

/** A commit that was handed to the committer and whose answer is not known. */
export interface Flight {
  readonly gathering: Gathering;
  readonly commitId: string;
}

export class Gate {
  #gathering = new Gathering(1);
  #flight: Flight | undefined;

  get flight(): Flight | undefined {
    return this.#flight;
  }

  /** Turns wait to be committed. */
  get hasGathered(): boolean {
    return !this.#gathering.isEmpty;
  }

  get isEmpty(): boolean {
    return !this.hasGathered && this.#flight === undefined;
  }

  get gatheredBytes(): number {
    return this.#gathering.bytes;
  }

  /** How many outcomes wait. */
  get size(): number {
    return this.#gathering.carried.length + (this.#flight?.gathering.carried.length ?? 0);
  }

  /** Everything that waits, in the order its turns ran. */
  get carried(): readonly Carried[] {
    return [...(this.#flight?.gathering.carried ?? []), ...this.#gathering.carried];
  }

  get gathered(): readonly Carried[] {
    return this.#gathering.carried;
  }

  /** Whether another turn may join what is gathered; one that is to be committed alone only finds it empty. */
  admits(turn: { readonly alone: boolean }, gatherBytesMax: number): boolean {
    if (this.#gathering.sealed || this.#gathering.bytes >= gatherBytesMax) return false;
    return !turn.alone || !this.hasGathered;
  }

  /** Whether what a turn wrote has to wait until what is gathered is durable (see `Gathering.frees`). */
  mustFollow(recorded: Recorded): boolean {
    return this.#gathering.frees(recorded);
  }

  /** No turn joins what is gathered any more. */
  seal(): void {
    this.#gathering.sealed = true;
  }

  /** Keeps an outcome without writes with the last commit whose state it may have seen. False: there is none. */
  hold(outcome: Carried): boolean {
    const last = this.hasGathered ? this.#gathering : this.#flight?.gathering;
    last?.carried.push(outcome);
    return last !== undefined;
  }

  /** Gathers what a turn wrote, and keeps its outcome. Returns the number of the commit it will be part of. */
  gather(outcome: Carried, recorded: Recorded): number {
    this.#gathering.carried.push(outcome);
    this.#gathering.add(recorded);
    if (outcome.queued.alone) this.seal();
    return this.#gathering.number;
  }

  /** What is gathered goes into flight, and the next commit begins to gather. */
  launch(commitId: string): Gathering {
    const gathering = this.#gathering;
    this.#flight = { gathering, commitId };
    this.#gathering = new Gathering(gathering.number + 1);
    return gathering;
  }

  /** The commit in flight is durable. */
  land(): void {
    this.#flight = undefined;
  }

  /** Forgets everything that is not durable. */
  clear(durableCommit: number): void {
    this.#flight = undefined;
    this.#gathering = new Gathering(durableCommit + 1);
  }
}

/**
 * Whose writes may be to blame when this commit cannot be applied. A turn that is committed alone comes first, and
 * whoever joined it wrote nothing.
 */
export function suspects({ carried }: Gathering): readonly Carried[] {
  return carried[0]?.queued.alone ? carried.slice(0, 1) : carried;
}
