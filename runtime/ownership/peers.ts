/**
 * Whether the other hosts can be heard from here. The database tells who is there and the transport carries what they
 * say: a host that is there and is never heard uses other NATS servers, by mistake, and nobody here reaches its shards.
 *
 * Each host says that it is there every half lease. One that was not heard for two leases, though it has been there for
 * as long, counts as unreachable.
 */
import type { Clock } from '../clock.ts';
import type { LiveNode, NodeRow } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import { runsActors } from './membership.ts';

const unreachableLeases = 2;

export interface PeersOptions {
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly leaseMs: number;
  readonly transport: Pick<Transport, 'hint'>;
}

export class Peers {
  readonly #options: PeersOptions;
  /** When each of the other hosts was heard last, or seen first, by incarnation. */
  #heardAtMs = new Map<string, number>();
  #spokeAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  heard(incarnation: string): void {
    if (this.#heardAtMs.has(incarnation)) this.#heardAtMs.set(incarnation, this.#options.clock.monotonicMs());
  }

  /** Takes in who is there, and tells them that this host is. */
  update(nodes: readonly LiveNode[]): void {
    const { clock, node, leaseMs, transport } = this.#options;
    const nowMs = clock.monotonicMs();
    const others = nodes.filter(({ id, roles }) => id !== node.id && runsActors(roles));
    this.#heardAtMs = new Map(
      others.flatMap(({ incarnation }) =>
        incarnation === null ? [] : [[incarnation, this.#heardAtMs.get(incarnation) ?? nowMs] as const],
      ),
    );
    if (others.length === 0 || nowMs - this.#spokeAtMs < leaseMs / 2) return;
    this.#spokeAtMs = nowMs;
    transport.hint({ hint: 'present', host: node.incarnation });
  }

  get unreachableCount(): number {
    const { clock, leaseMs } = this.#options;
    const sinceMs = clock.monotonicMs() - unreachableLeases * leaseMs;
    return [...this.#heardAtMs.values()].filter((heardAtMs) => heardAtMs < sinceMs).length;
  }
}
