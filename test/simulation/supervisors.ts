/**
 * The supervisors of the machines that have one (`supervisor.ts`). Each learns of the death of its process, and of
 * nothing else, and then gives up that process's incarnation. Much goes wrong. It is late by leases, as if frozen
 * along with its process. It acts twice. It names an incarnation that was over long before. Its statement is lost, or
 * comes late itself.
 */

import { StoreError } from '../../runtime/store/store.ts';
import { ModelStore } from '../kit/model-store/model-store.ts';
import type { SeededRandom } from '../kit/random.ts';
import type { WatchedDatabase } from './database.ts';
import { SimulatedProcess } from './process.ts';
import type { StorageFaults } from './storage-faults.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

export interface SupervisorsOptions {
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly database: WatchedDatabase;
  readonly faults: StorageFaults;
  readonly leaseMs: number;
  /** Notifies the live processes that the nodes have changed, if it can. */
  readonly hint: () => void;
}

const machinesShare = 0.6;
const twiceShare = 0.3;
const mistakenShare = 0.2;
/** At most. Most act at once. */
const lateLeases = 3;

export class Supervisors {
  readonly #options: SupervisorsOptions;
  readonly #isSupervised = new Map<string, boolean>();
  /** The incarnations of each machine whose process has died. */
  readonly #dead = new Map<string, string[]>();

  constructor(options: SupervisorsOptions) {
    this.#options = options;
  }

  /** The process of this machine has died. It had registered this incarnation last, or was about to. */
  died(machine: string, incarnation: string): void {
    if (incarnation === '' || !this.#has(machine)) return;
    const { random } = this.#options;
    const former = this.#dead.get(machine) ?? [];
    this.#dead.set(machine, [...former, incarnation]);
    const isMistaken = former.length > 0 && random.chance(mistakenShare);
    this.#giveUpSoon(machine, isMistaken ? random.pick(former) : incarnation);
    if (random.chance(twiceShare)) this.#giveUpSoon(machine, incarnation);
  }

  #has(machine: string): boolean {
    const known = this.#isSupervised.get(machine) ?? this.#options.random.chance(machinesShare);
    this.#isSupervised.set(machine, known);
    return known;
  }

  #giveUpSoon(machine: string, incarnation: string): void {
    const { time, random, leaseMs } = this.#options;
    const lateMs = random.fraction() ** 4 * lateLeases * leaseMs;
    time.after(lateMs, () => void this.#giveUp(machine, incarnation));
  }

  async #giveUp(machine: string, incarnation: string): Promise<void> {
    const { time, trace, database, faults, hint } = this.#options;
    const process = new SimulatedProcess(`${machine}~`, time, { wallSkewMs: 0, rate: 1 });
    trace.add(() => `${process.name} gives up ${incarnation}`);
    try {
      await new ModelStore(database, faults.scheduleOf(process)).leave(machine, incarnation);
      hint();
    } catch (error) {
      // Its lease ends by itself.
      if (!(error instanceof StoreError)) throw error;
    }
  }
}
