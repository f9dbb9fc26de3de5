/**
 * One process's part in the cluster as a host: one incarnation of a `Host` after another.
 *
 * A host whose lease was declared over (the process was paused, the database was away for longer than a lease) must
 * never serve again, and everything it holds in memory is void. The process need not end for that: a new incarnation
 * starts from nothing, as that of a new process would, while the sockets and requests of its gateway live on.
 *
 * Only another process that serves under the same node id ends this one: two would take turns for ever.
 */
import { sleep } from './clock.ts';
import { ActorError } from './errors.ts';
import { Host, type HostOptions } from './host.ts';
import { NodeTakenError } from './ownership/lease.ts';
import { type NodeRow, StoreError } from './store/store.ts';

const rejoinPauseMinMs = 200;
const rejoinPauseMaxMs = 5_000;

export interface NodeOptions extends Omit<HostOptions, 'node' | 'onLeaseLost'> {
  readonly node: Omit<NodeRow, 'incarnation'>;
  /** Another process serves as this node. */
  readonly onReplaced: () => void;
}

export class Node {
  readonly #options: NodeOptions;
  #host: Host;
  #ended = false;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#host = this.#newHost(options.isPredecessorDead);
  }

  /** @throws StoreError | UnavailableError */
  start(): Promise<void> {
    return this.#host.start();
  }

  /** The lease is valid and every shard that belongs here is here. */
  get isReady(): boolean {
    return this.#host.isReady;
  }

  get hasLease(): boolean {
    return this.#host.hasLease;
  }

  get actorCount(): number {
    return this.#host.actorCount;
  }

  get shardCount(): number {
    return this.#host.shardCount;
  }

  /** See `Host.drain`. */
  drain(withinMs: number): Promise<void> {
    this.#ended = true;
    return this.#host.drain(withinMs);
  }

  #newHost(isPredecessorDead: boolean): Host {
    const { node, random } = this.#options;
    return new Host({
      ...this.#options,
      isPredecessorDead,
      node: { ...node, incarnation: random.uuid() },
      onLeaseLost: () => void this.#rejoin(),
    });
  }

  async #rejoin(): Promise<void> {
    const { clock, logger, onReplaced } = this.#options;
    for (let pauseMs = rejoinPauseMinMs; !this.#ended; pauseMs = Math.min(rejoinPauseMaxMs, 2 * pauseMs)) {
      await sleep(clock, pauseMs);
      if (this.#ended) return;
      // Not dead for sure: what took the lease away may be another process of this name.
      this.#host = this.#newHost(false);
      try {
        await this.#host.start();
        logger.info({}, 'this node has joined the cluster again');
        return;
      } catch (error) {
        this.#host.abandon();
        if (error instanceof NodeTakenError) return onReplaced();
        if (!(error instanceof StoreError || error instanceof ActorError)) throw error;
        logger.warn({ error: error.message }, 'this node could not join the cluster again yet');
      }
    }
  }
}
