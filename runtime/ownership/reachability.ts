/**
 * Has the database say whether this host can be reached by the others. What it says is read at each reconciliation and
 * not remembered: a statement that came late may have said something else meanwhile.
 *
 * A host that is cut off from the transport and not from the database keeps its lease, and nobody would get at its
 * shards for as long as it lasts. So it says that it is not connected, once that has lasted for half a lease, and the
 * hosts that are take its shards over in order (`membership.ts`). Where nobody is connected, as when all of the broker is
 * away, that distinguishes nobody and nothing moves.
 *
 * A host that may not serve because its clock is wrong says the same, for the same reason.
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
  readonly isClockRight?: () => boolean;
}

export class Reachability {
  readonly #options: ReachabilityOptions;
  #lostAtMs: number | undefined;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /** `saysConnected`: what the database says now. Resolves to whether it was told otherwise. @throws StoreError */
  async correct(saysConnected: boolean): Promise<boolean> {
    const { clock, leaseMs, transport, store, node, isClockRight = () => true } = this.#options;
    if (!transport.reachesOthers) return false;
    const nowMs = clock.monotonicMs();
    if (transport.isConnected && isClockRight()) this.#lostAtMs = undefined;
    else this.#lostAtMs ??= nowMs;
    const isConnected = this.#lostAtMs === undefined;
    const isTooShort = this.#lostAtMs !== undefined && nowMs - this.#lostAtMs < leaseMs / 2;
    if (isConnected === saysConnected || isTooShort) return false;
    await store.setConnected(node.id, node.incarnation, isConnected);
    return true;
  }
}
