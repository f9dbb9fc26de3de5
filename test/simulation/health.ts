/** Which parts of the simulated server are well: nobody may notice in them what another part suffers. */
import { type Address, shardOf } from '../../runtime/address.ts';
import type { Ailments } from './ailments.ts';
import type { WatchedDatabase } from './database.ts';
import type { Ask, Entrance } from './gateway.ts';
import type { Machines } from './machines.ts';
import type { Plan } from './plan.ts';
import type { StorageFaults } from './storage-faults.ts';

export interface HealthOptions {
  readonly plan: Plan;
  readonly machines: Machines;
  readonly faults: StorageFaults;
  readonly ailments: Ailments;
  readonly database: WatchedDatabase;
}

export class Health {
  readonly #options: HealthOptions;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /**
   * The hosts that this call needs, by name. Undefined if anything that it needs is, or was lately, in trouble. Where
   * nothing can be, no host is named.
   */
  wellHostsFor({ address, request }: Ask, { process }: Entrance): string | undefined {
    const { plan, faults, ailments } = this.#options;
    // A user's command may ask actors that it does not name.
    if (address.kind !== 'counter') return plan.isTroubled ? undefined : '';
    const { to = address.id } = request as { to?: string };
    const counters = [address.id, to];
    if (!counters.every((counter) => ailments.isWell(counter))) return undefined;
    if (!plan.isTroubled) return '';
    const hosts = counters.map((counter) => this.wellHostOf(counter));
    return !faults.isWell(process) || hosts.includes(undefined) ? undefined : hosts.join();
  }

  /**
   * The incarnation that the database names as the owner of this counter, with the claim by which it is that. Undefined if it cannot
   * serve. An owner that has handed the shard over and got it back is named otherwise than before: what it got before has met the
   * hand-over.
   */
  wellHostOf(counter: string): string | undefined {
    const { database, plan, machines, faults } = this.#options;
    const address: Address = { kind: 'counter', id: counter };
    const shard = shardOf(address, plan.shardCount);
    const held = database.shards().find((row) => row.shard === shard);
    // A shard that nobody holds has no incarnation, and neither has a gateway.
    if (held === undefined || held.incarnation === '') return undefined;
    const { incarnation, epoch } = held;
    const run = machines.runs.find(({ store }) => store.incarnation === incarnation);
    return run !== undefined && faults.isWell(run.process) ? `${incarnation} ${epoch}` : undefined;
  }
}
