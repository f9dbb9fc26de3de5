/**
 * Faults that stick to one counter: somebody holds its row locked, or what a commit of it writes is never finished, or
 * only after its sender has given up. Whoever is sent along with it is hit as well.
 */
import type { Address } from '../../runtime/address.ts';
import { sleep } from '../../runtime/clock.ts';
import { type Commit, StoreError } from '../../runtime/store/store.ts';
import type { WatchedDatabase } from './database.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';

export const ailments = ['locked', 'lost', 'late'] as const;
export type Ailment = (typeof ailments)[number];

/** What a statement takes that times out. */
const timeoutMs = 150;
/** Until what an ailment has held up is through. */
const recoveryMs = 8_000;

export class Ailments {
  readonly #time: SimulatedTime;
  readonly #database: WatchedDatabase;
  readonly #ailing = new Map<string, Ailment>();
  readonly #wellAtMs = new Map<string, number>();

  constructor(time: SimulatedTime, database: WatchedDatabase) {
    this.#time = time;
    this.#database = database;
  }

  /** The counter has it for so long, unless it has one already. */
  strike(counter: string, ailment: Ailment, forMs: number): void {
    if (this.#ailing.has(counter)) return;
    this.#ailing.set(counter, ailment);
    if (ailment === 'locked') this.#database.lock(addressOf(counter));
    this.#time.after(forMs, () => this.#end(counter));
  }

  heal(): void {
    for (const counter of [...this.#ailing.keys()]) this.#end(counter);
  }

  /** Whether a counter has nothing and had nothing a while ago. */
  isWell(counter: string): boolean {
    return !this.#ailing.has(counter) && (this.#wellAtMs.get(counter) ?? 0) <= this.#time.nowMs;
  }

  /** Runs a commit as its members let it. */
  async commit<T>(commits: readonly Commit[], process: SimulatedProcess, run: () => Promise<T>): Promise<T> {
    const found = commits.map(({ address }) => this.#of(address));
    if (!found.includes('lost') && !found.includes('late')) return run();
    await sleep(process, timeoutMs);
    if (!found.includes('lost')) await run();
    throw new StoreError('unknown', 'simulated: it timed out');
  }

  #of({ kind, id }: Address): Ailment | undefined {
    return kind === 'counter' ? this.#ailing.get(id) : undefined;
  }

  #end(counter: string): void {
    if (!this.#ailing.delete(counter)) return;
    this.#wellAtMs.set(counter, this.#time.nowMs + recoveryMs);
    this.#database.unlock(addressOf(counter));
  }
}

const addressOf = (id: string): Address => ({ kind: 'counter', id });
