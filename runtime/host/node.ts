/** A process as a host of the cluster, across its incarnations (`incarnations.ts`). */

import type { NodeRow } from '../store/store.ts';
import { Host, type HostOptions } from './host.ts';
import { Incarnations, type IncarnationsOptions } from './incarnations.ts';

export interface NodeOptions extends Omit<HostOptions, 'node' | 'onLeaseLost'> {
  readonly node: Omit<NodeRow, 'incarnation'>;
  readonly onRejected: IncarnationsOptions<Host>['onRejected'];
}

export class Node {
  readonly #hosts: Incarnations<Host>;

  constructor(options: NodeOptions) {
    this.#hosts = new Incarnations({
      ...options,
      create: (incarnation, onLeaseLost, isFirst) =>
        new Host({
          ...options,
          node: { ...options.node, incarnation },
          // This is known only for the first incarnation: another process of this name may have taken the lease of a later one.
          isPredecessorDead: isFirst && options.isPredecessorDead,
          onLeaseLost,
        }),
    });
  }

  /** @throws StoreError | UnavailableError */
  start(): Promise<void> {
    return this.#hosts.start();
  }

  /** See `Host.isReady`. */
  get isReady(): boolean {
    return this.#hosts.current.isReady;
  }

  /** See `Host.areWritesGood`. */
  get areWritesGood(): boolean {
    return this.#hosts.current.areWritesGood;
  }

  /** See `Host.isClockRight`. */
  get isClockRight(): boolean {
    return this.#hosts.current.isClockRight;
  }

  /** See `Lease.clockSkewMs`. */
  get clockSkewMs(): number {
    return this.#hosts.current.clockSkewMs;
  }

  get hasLease(): boolean {
    return this.#hosts.current.hasLease;
  }

  get isIdle(): boolean {
    return this.#hosts.current.isIdle;
  }

  get actorCount(): number {
    return this.#hosts.current.actorCount;
  }

  get jobCount(): number {
    return this.#hosts.current.jobCount;
  }

  get shardCount(): number {
    return this.#hosts.current.shardCount;
  }

  get leavingShardCount(): number {
    return this.#hosts.current.leavingShardCount;
  }

  get unreachableHostCount(): number {
    return this.#hosts.current.unreachableHostCount;
  }

  get reconciliationAgeMs(): number {
    return this.#hosts.current.reconciliationAgeMs;
  }

  /** See `Host.drain`. */
  drain(withinMs: number): Promise<void> {
    return this.#hosts.end().drain(withinMs);
  }
}
