/**
 * Once nothing fails any more, no shard is without a living host that serves it for longer than a bound. In the end
 * each belongs to exactly one host that serves it, and none to a host that must be empty. After an operator's command
 * each is in its computed host.
 */
import { placementOf } from '../../../runtime/ownership/placement.ts';
import type { LiveNode, ShardRow } from '../../../runtime/store/store.ts';
import type { Checker, Report } from './checker.ts';

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
 * The delays before a shard is served again. Abandoned statements still run for a while. A predecessor's lease is
 * waited for twice, as is that of a host that is gone for good.
 */
const unservedLeases = 4;
const unservedMs = 12_000;

export class OwnershipChecker implements Checker {
  readonly name = 'ownership';
  readonly #options: OwnershipCheckerOptions;
  readonly #servedAtMs = new Map<number, number>();
  /** The order in which incarnations registered and shards were claimed. */
  readonly #registered = new Map<string, number>();
  readonly #claimed = new Map<number, number>();
  #order = 0;

  constructor(options: OwnershipCheckerOptions) {
    this.#options = options;
  }

  /** Call repeatedly, from the moment on at which nothing fails any more. */
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

  /** The parts that are not so yet. */
  incomplete(): string | undefined {
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

  registered(incarnation: string): void {
    this.#order += 1;
    this.#registered.set(incarnation, this.#order);
  }

  claimed(_incarnation: string, shards: readonly number[]): void {
    this.#order += 1;
    for (const shard of shards) this.#claimed.set(shard, this.#order);
  }

  /**
   * The shards outside their host. `butAdopted`: a shard may stay if its proper host existed when it was claimed,
   * because that host did not claim it.
   */
  misplaced(butAdopted: boolean): string | undefined {
    const staying = this.#options.database.nodes().filter((node) => isHost(node) && !node.draining);
    const placement = placementOf(
      staying.map(({ id }) => id),
      this.#options.shardCount,
    );
    const incarnations = new Map(staying.map(({ id, incarnation }) => [id, incarnation ?? '']));
    for (const [shard, { node }] of this.#rows()) {
      const host = placement[shard];
      if (host === undefined || host === node) continue;
      const came = this.#registered.get(incarnations.get(host) ?? '') ?? 0;
      const isAdopted = came < (this.#claimed.get(shard) ?? 0);
      if (!butAdopted || !isAdopted) return `shard ${shard} is at ${node} and belongs to ${host}`;
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
