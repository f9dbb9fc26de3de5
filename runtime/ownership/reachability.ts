/**
 * Writes into the database whether the others can reach this host. Each reconciliation reads what the database says. It is not
 * remembered here, because a statement that came late may have changed it meanwhile.
 *
 * A host that is cut off from the transport but not from the database keeps its lease. Its shards would be unreachable as long
 * as that lasts. So after half a lease it says that it is not connected, and connected hosts take its shards over in
 * order (`membership.ts`). If no host is connected, as when the whole broker is away, all are equal and nothing moves.
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

  /** `saysConnected`: what the database says now. Resolves to whether this has corrected it. @throws StoreError */
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
