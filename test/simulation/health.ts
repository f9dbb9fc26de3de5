/**
 * Tells which parts of the simulated server are healthy. Clients of a healthy part may not notice the troubles of another part.
 */
import { type Address, shardOf } from '../../runtime/address.ts';
import type { WatchedDatabase } from './database.ts';
import type { Ask, GatewayProcess } from './gateway.ts';
import type { Machines } from './machines.ts';
import type { Plan } from './plan.ts';
import type { StickyFaults } from './sticky-faults.ts';
import type { StorageFaults } from './storage-faults.ts';

export interface HealthOptions {
  readonly plan: Plan;
  readonly machines: Machines;
  readonly faults: StorageFaults;
  readonly stickyFaults: StickyFaults;
  readonly database: WatchedDatabase;
}

export class Health {
  readonly #options: HealthOptions;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /**
   * The hosts that this call needs, by name. Undefined if anything that it needs is in trouble, or was lately. Empty where
   * nothing can be in trouble.
   */
  healthyHostsFor({ address, request }: Ask, { process }: GatewayProcess): string | undefined {
    const { plan, faults, stickyFaults } = this.#options;
    // A user's command may ask actors that it does not name.
    if (address.kind !== 'counter') return plan.isTroubled ? undefined : '';
    const { to = address.id } = request as { to?: string };
    const counters = [address.id, to];
    if (!counters.every((counter) => stickyFaults.isHealthy(counter))) return undefined;
    if (!plan.isTroubled) return '';
    const hosts = counters.map((counter) => this.healthyHostOf(counter));
    return !faults.isHealthy(process) || hosts.includes(undefined) ? undefined : hosts.join();
  }

  /**
   * The incarnation that the database names as the owner of this counter, with the claim by which it is that. Undefined if it
   * cannot serve. The claim is part of the name. A call from before a hand-over may have failed by it, even if the same owner
   * has the shard again.
   */
  healthyHostOf(counter: string): string | undefined {
    const { database, plan, machines, faults } = this.#options;
    const address: Address = { kind: 'counter', id: counter };
    const shard = shardOf(address, plan.shardCount);
    const held = database.shards().find((row) => row.shard === shard);
    // A shard that nobody holds has no incarnation, and neither has a gateway.
    if (held === undefined || held.incarnation === '') return undefined;
    const { incarnation, epoch } = held;
    const run = machines.runs.find(({ store }) => store.incarnation === incarnation);
    return run !== undefined && faults.isHealthy(run.process) ? `${incarnation} ${epoch}` : undefined;
  }
}
