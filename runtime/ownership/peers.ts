/**
 * Whether this host can hear the other hosts. The database lists the live hosts, and the transport carries their messages. A
 * live host that is never heard uses other NATS servers by mistake, and its shards cannot be reached from here.
 *
 * Each host announces itself every half lease, or less often if there are many hosts. Each hears all others, so at a fixed
 * interval the messages would grow with the square of the hosts. A host that was not heard for four intervals, though it has
 * been there for as long, counts as unreachable.
 */
import type { Clock } from '../clock.ts';
import type { LiveNode, NodeRow } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import { runsActors } from './membership.ts';

const unreachableTimes = 4;
/** The most announcements that a host receives in a second. */
const heardPerSecond = 10;

export interface PeersOptions {
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly leaseMs: number;
  readonly transport: Pick<Transport, 'hint'>;
}

export class Peers {
  readonly #options: PeersOptions;
  /** When each of the other hosts was last heard or first seen, by incarnation. */
  #heardAtMs = new Map<string, number>();
  #spokeAtMs = Number.NEGATIVE_INFINITY;
  #announceEveryMs: number;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#announceEveryMs = announceEveryMs(0, options.leaseMs);
  }

  heard(incarnation: string): void {
    if (this.#heardAtMs.has(incarnation)) this.#heardAtMs.set(incarnation, this.#options.clock.monotonicMs());
  }

  /** Takes in the live hosts, and announces this one to them. */
  update(nodes: readonly LiveNode[]): void {
    const { clock, node, leaseMs, transport } = this.#options;
    const nowMs = clock.monotonicMs();
    const others = nodes.filter(({ id, roles }) => id !== node.id && runsActors(roles));
    this.#heardAtMs = new Map(
      others.flatMap(({ incarnation }) =>
        incarnation === null ? [] : [[incarnation, this.#heardAtMs.get(incarnation) ?? nowMs] as const],
      ),
    );
    this.#announceEvery(announceEveryMs(this.#heardAtMs.size, leaseMs));
    if (others.length === 0 || nowMs - this.#spokeAtMs < this.#announceEveryMs) return;
    this.#spokeAtMs = nowMs;
    transport.hint({ hint: 'present', host: node.incarnation });
  }

  get unreachableCount(): number {
    const sinceMs = this.#options.clock.monotonicMs() - unreachableTimes * this.#announceEveryMs;
    return [...this.#heardAtMs.values()].filter((heardAtMs) => heardAtMs < sinceMs).length;
  }

  /** A host may have announced itself at the longer interval of a larger cluster, which is no reason to miss it. */
  #announceEvery(announceEveryMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (announceEveryMs < this.#announceEveryMs)
      for (const host of this.#heardAtMs.keys()) this.#heardAtMs.set(host, nowMs);
    this.#announceEveryMs = announceEveryMs;
  }
}

/** How often a host announces itself. */
export const announceEveryMs = (others: number, leaseMs: number): number =>
  Math.max(leaseMs / 2, (others * 1_000) / heardPerSecond);
