/**
 * Whether the other hosts can be heard from here. The database tells who is there and the transport carries what they
 * say: a host that is there and is never heard uses other NATS servers, by mistake, and nobody here reaches its shards.
 *
 * Each host says that it is there every half lease, or less often where there are many hosts: each hears of all others, so that
 * at a fixed pace what is said would grow with the square of the hosts. One that was not heard for four times as long, though it
 * has been there for as long, counts as unreachable.
 */
import type { Clock } from '../clock.ts';
import type { LiveNode, NodeRow } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import { runsActors } from './membership.ts';

const unreachableTimes = 4;
/** So many others are heard in a second, at most. */
const heardPerSecond = 10;

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
  #announceEveryMs: number;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#announceEveryMs = announceEveryMs(0, options.leaseMs);
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
    this.#announceEvery(announceEveryMs(this.#heardAtMs.size, leaseMs));
    if (others.length === 0 || nowMs - this.#spokeAtMs < this.#announceEveryMs) return;
    this.#spokeAtMs = nowMs;
    transport.hint({ hint: 'present', host: node.incarnation });
  }

  get unreachableCount(): number {
    const sinceMs = this.#options.clock.monotonicMs() - unreachableTimes * this.#announceEveryMs;
    return [...this.#heardAtMs.values()].filter((heardAtMs) => heardAtMs < sinceMs).length;
  }

  /** Those that have spoken at the slower pace of more hosts have spoken as was expected of them. */
  #announceEvery(announceEveryMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (announceEveryMs < this.#announceEveryMs)
      for (const host of this.#heardAtMs.keys()) this.#heardAtMs.set(host, nowMs);
    this.#announceEveryMs = announceEveryMs;
  }
}

/** How often a host says that it is there. */
export const announceEveryMs = (others: number, leaseMs: number): number =>
  Math.max(leaseMs / 2, (others * 1_000) / heardPerSecond);
