/**
 * Once nothing fails any more no shard is without a living host that serves it for longer than a bound; in the end each
 * belongs to one that serves it and alone, and to none that is to be empty; and after an operator's word each is in the
 * place that is computed for it.
 */
import { placementOf } from '../../../runtime/ownership/placement.ts';
import type { LiveNode, ShardRow } from '../../../runtime/store/store.ts';
import type { Report } from './checker.ts';

export interface OwnershipCheckerOptions {
  readonly database: {
    nodes(): readonly LiveNode[];
    shards(): readonly ShardRow[];
  };
  readonly machines: {
    readonly runs: readonly {
      readonly machine: { readonly id: string };
      readonly process: { readonly name: string };
      readonly endpoint: { readonly routed: ReadonlySet<number> };
      readonly store: { readonly incarnation: string };
    }[];
    readonly unready: string | undefined;
  };
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly report: Report;
}

/**
 * What may come before a shard is served again: statements that were given up still run for a while, a predecessor's
 * lease is waited for twice, and so is that of a host that is gone for good.
 */
const unservedLeases = 4;
const unservedMs = 12_000;

export class OwnershipChecker {
  readonly #options: OwnershipCheckerOptions;
  readonly #servedAtMs = new Map<number, number>();

  constructor(options: OwnershipCheckerOptions) {
    this.#options = options;
  }

  /** To be called again and again from the moment on at which nothing fails any more. */
  watch(nowMs: number): void {
    const { shardCount, leaseMs, report } = this.#options;
    const rows = this.#rows();
    for (let shard = 0; shard < shardCount; shard += 1) {
      const owner = this.#ownerOf(rows.get(shard));
      if (owner?.endpoint.routed.has(shard) || !this.#servedAtMs.has(shard))
        this.#servedAtMs.set(shard, nowMs);
      const unserved = nowMs - (this.#servedAtMs.get(shard) ?? nowMs);
      if (unserved > unservedMs + unservedLeases * leaseMs)
        report(`shard ${shard} is served by nobody for ${unserved} ms`);
    }
  }

  /** What of it is not so yet. */
  unsettled(): string | undefined {
    const { machines, shardCount } = this.#options;
    if (machines.unready !== undefined) return machines.unready;
    const rows = this.#rows();
    const emptied = this.#emptied();
    for (let shard = 0; shard < shardCount; shard += 1) {
      const row = rows.get(shard);
      const owner = this.#ownerOf(row);
      if (owner === undefined) return `shard ${shard} belongs to nobody who lives`;
      if (emptied.has(owner.machine.id))
        return `shard ${shard} is at ${owner.machine.id}, which is to be empty`;
      const serving = machines.runs.filter(({ endpoint }) => endpoint.routed.has(shard));
      if (serving.length !== 1 || serving[0] !== owner) {
        const names = serving.map(({ process }) => process.name);
        return `shard ${shard} belongs to ${owner.process.name} and is served by ${names.join(' and ') || 'nobody'}`;
      }
    }
    return undefined;
  }

  /** What is not in its place. */
  misplaced(): string | undefined {
    const staying = this.#options.database.nodes().filter((node) => isHost(node) && !node.draining);
    const placement = placementOf(
      staying.map(({ id }) => id),
      this.#options.shardCount,
    );
    for (const [shard, { node }] of this.#rows()) {
      if (node !== placement[shard]) return `shard ${shard} is at ${node} and belongs to ${placement[shard]}`;
    }
    return undefined;
  }

  #ownerOf(row: ShardRow | undefined) {
    return this.#options.machines.runs.find(({ store }) => store.incarnation === row?.incarnation);
  }

  #rows(): ReadonlyMap<number, ShardRow> {
    return new Map(this.#options.database.shards().map((row) => [row.shard, row]));
  }

  #emptied(): ReadonlySet<string> {
    const hosts = this.#options.database.nodes().filter(isHost);
    const drained = hosts.filter(({ draining }) => draining).map(({ id }) => id);
    return new Set(drained.length === hosts.length ? [] : drained);
  }
}

const isHost = ({ incarnation, roles }: LiveNode): boolean => incarnation !== null && roles !== 'gateway';
