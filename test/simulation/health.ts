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

  /** Whether nothing that this call needs is, or was lately, in trouble. */
  isUntouched({ address, request }: Ask, { process }: Entrance): boolean {
    const { plan, faults, ailments } = this.#options;
    // A user's command may ask actors that it does not name.
    if (address.kind !== 'counter') return !plan.isTroubled;
    const { to = address.id } = request as { to?: string };
    const counters = [address.id, to];
    if (!counters.every((counter) => ailments.isWell(counter))) return false;
    if (!plan.isTroubled) return true;
    return faults.isWell(process) && counters.every((counter) => this.wellHostOf(counter) !== undefined);
  }

  /** The incarnation that the database names as the owner of this counter, unless it cannot serve. */
  wellHostOf(counter: string): string | undefined {
    const { database, plan, machines, faults } = this.#options;
    const address: Address = { kind: 'counter', id: counter };
    const shard = shardOf(address, plan.shardCount);
    const owner = database.shards().find((row) => row.shard === shard)?.incarnation;
    const run = machines.runs.find(({ store }) => store.incarnation === owner);
    return run !== undefined && faults.isWell(run.process) ? owner : undefined;
  }
}
