/**
 * One process's part in the cluster: one incarnation of a member after another.
 *
 * The lease of a member may be declared over, because the process was paused or the database was away for too long. Such a
 * member must never serve again, and everything in its memory is void. The process can go on: a new incarnation starts from
 * nothing, like a new process. The sockets and requests of its gateway live on.
 *
 * Two things do end the process. One is another process under the same node id, because the two would alternate forever. The
 * other is a database that this process may no longer serve.
 */
import { type Clock, sleep } from '../clock.ts';
import { ActorError, UnavailableError } from '../errors.ts';
import { NodeIdInUseError } from '../ownership/lease.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import { StoreError } from '../store/store.ts';

const rejoinPauseMinMs = 200;
const rejoinPauseMaxMs = 5_000;

export interface LiveIncarnation {
  start(): Promise<void>;
  /** Stops at once without notifying anyone. */
  abandon(): void;
}

export interface IncarnationsOptions<M> {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly create: (incarnation: string, onLeaseLost: () => void, isFirst: boolean) => M;
  /** Called when this process must not go on serving. */
  readonly onRejected: (error: unknown) => void;
}

export class Incarnations<M extends LiveIncarnation> {
  readonly #options: IncarnationsOptions<M>;
  #current: M;
  #isRejoining = false;
  /** The incarnation that starts has lost its lease, even if its start ends well. */
  #isLostAgain = false;
  #ended = false;

  constructor(options: IncarnationsOptions<M>) {
    this.#options = options;
    this.#current = this.#create(true);
  }

  get current(): M {
    return this.#current;
  }

  /** @throws whatever the member's start throws */
  start(): Promise<void> {
    return this.#current.start();
  }

  /** From now on there is no further incarnation. */
  end(): M {
    this.#ended = true;
    return this.#current;
  }

  #create(isFirst: boolean): M {
    const { create, random } = this.#options;
    return create(random.uuid(), () => void this.#lost(), isFirst);
  }

  async #lost(): Promise<void> {
    this.#isLostAgain = true;
    if (this.#isRejoining) return;
    this.#isRejoining = true;
    await this.#rejoin();
    this.#isRejoining = false;
  }

  async #rejoin(): Promise<void> {
    const { clock, logger, onRejected } = this.#options;
    for (let pauseMs = rejoinPauseMinMs; !this.#ended; pauseMs = Math.min(rejoinPauseMaxMs, 2 * pauseMs)) {
      await sleep(clock, pauseMs);
      if (this.#ended) return;
      this.#isLostAgain = false;
      this.#current = this.#create(false);
      try {
        await this.#current.start();
        if (this.#isLostAgain) throw new UnavailableError('the lease was lost during the start');
        logger.info({}, 'this node has joined the cluster again');
        return;
      } catch (error) {
        this.#current.abandon();
        const isPassing = error instanceof StoreError || error instanceof ActorError;
        if (!isPassing || error instanceof NodeIdInUseError) return onRejected(error);
        logger.warn({ error: error.message }, 'this node could not join the cluster again yet');
      }
    }
  }
}
