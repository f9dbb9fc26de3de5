/**
 * Tells the database whether this host can be reached by the others, at each look.
 *
 * A host that is cut off from the transport and not from the database keeps its lease, and nobody would get at its
 * shards for as long as it lasts. So it says that it is not connected, once that has lasted for half a lease, and the
 * hosts that are take its shards over in order (`membership.ts`). Where nobody is connected, as when all of the broker is
 * away, that distinguishes nobody and nothing moves.
 */
import type { Clock } from '../clock.ts';
import type { NodeRow, Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';

export interface ReachabilityOptions {
  readonly clock: Clock;
  readonly store: Pick<Store, 'setConnected'>;
  readonly node: NodeRow;
  readonly leaseMs: number;
  readonly transport: Pick<Transport, 'isConnected' | 'reachesOthers'>;
}

export class Reachability {
  readonly #options: ReachabilityOptions;
  #lostAtMs: number | undefined;
  /** What the database says. */
  #isTold = true;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /** @throws StoreError */
  async tell(): Promise<void> {
    const { clock, leaseMs, transport } = this.#options;
    if (!transport.reachesOthers) return;
    const nowMs = clock.monotonicMs();
    if (transport.isConnected) this.#lostAtMs = undefined;
    else this.#lostAtMs ??= nowMs;
    const isReachable =
      this.#lostAtMs === undefined || (this.#isTold && nowMs - this.#lostAtMs < leaseMs / 2);
    if (isReachable === this.#isTold) return;
    const { store, node } = this.#options;
    await store.setConnected(node.id, node.incarnation, isReachable);
    this.#isTold = isReachable;
  }
}
