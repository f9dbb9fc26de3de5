/**
 * Faults that stick to one counter. Somebody holds its row locked, or its commits never finish, or finish only after
 * their sender has given up. Commits in the same batch suffer as well.
 */
import type { Address } from '../../runtime/address.ts';
import { sleep } from '../../runtime/clock.ts';
import { type Commit, StoreError } from '../../runtime/store/store.ts';
import type { WatchedDatabase } from './database.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';

export const ailments = ['locked', 'lost', 'late'] as const;
export type Ailment = (typeof ailments)[number];

/** The time of a statement that times out. */
const timeoutMs = 150;
/** The time until everything that an ailment has held up is done. */
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

  /** The counter has it for this long, unless it has one already. */
  strike(counter: string, ailment: Ailment, forMs: number): void {
    if (this.#ailing.has(counter)) return;
    this.#ailing.set(counter, ailment);
    if (ailment === 'locked') this.#database.lock(addressOf(counter));
    this.#time.after(forMs, () => this.#end(counter));
  }

  heal(): void {
    for (const counter of [...this.#ailing.keys()]) this.#end(counter);
  }

  /** Whether a counter has no ailment and had none for a while. */
  isWell(counter: string): boolean {
    return !this.#ailing.has(counter) && (this.#wellAtMs.get(counter) ?? 0) <= this.#time.nowMs;
  }

  /** Runs a commit as the ailments of its members allow. */
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
