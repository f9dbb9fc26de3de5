/**
 * Reports other hosts whose lease has ended: they died, were paused, or are cut off from the database. A host that leaves in
 * order is gone before its lease would be over.
 */
import type { Clock } from '../clock.ts';
import type { Logger } from '../ports.ts';
import type { LiveNode, NodeRow } from '../store/store.ts';

export interface NeighboursOptions {
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly logger: Logger;
}

interface KnownHost {
  readonly id: string;
  /** The end of its lease by this clock, as last seen. */
  readonly endsAtMs: number;
}

export class Neighbours {
  readonly #options: NeighboursOptions;
  /** Keyed by incarnation. */
  #known: ReadonlyMap<string, KnownHost> = new Map();

  constructor(options: NeighboursOptions) {
    this.#options = options;
  }

  /** Takes in the hosts that are there now. */
  update(nodes: readonly LiveNode[]): void {
    const { clock, node, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    const now = new Map(
      nodes.flatMap(({ id, incarnation, expiresInMs }) =>
        incarnation === null || id === node.id
          ? []
          : [[incarnation, { id, endsAtMs: nowMs + expiresInMs }] as const],
      ),
    );
    for (const [incarnation, { id, endsAtMs }] of this.#known) {
      if (now.has(incarnation) || endsAtMs > nowMs) continue;
      const endedAgoMs = Math.round(nowMs - endsAtMs);
      logger.warn({ neighbour: id, endedAgoMs }, 'the lease of another node has ended: it no longer serves');
    }
    this.#known = now;
  }
}
