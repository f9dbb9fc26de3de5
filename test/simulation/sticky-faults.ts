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

export const stickyFaultKinds = ['locked', 'lost', 'late'] as const;
export type StickyFaultKind = (typeof stickyFaultKinds)[number];

/** The time of a statement that times out. */
const timeoutMs = 150;
/** The time until everything that a fault has held up is done. */
const recoveryMs = 8_000;

export class StickyFaults {
  readonly #time: SimulatedTime;
  readonly #database: WatchedDatabase;
  readonly #faults = new Map<string, StickyFaultKind>();
  readonly #healthyAtMs = new Map<string, number>();

  constructor(time: SimulatedTime, database: WatchedDatabase) {
    this.#time = time;
    this.#database = database;
  }

  /** The counter has it for this long, unless it has one already. */
  inject(counter: string, kind: StickyFaultKind, forMs: number): void {
    if (this.#faults.has(counter)) return;
    this.#faults.set(counter, kind);
    if (kind === 'locked') this.#database.lock(addressOf(counter));
    this.#time.after(forMs, () => this.#end(counter));
  }

  heal(): void {
    for (const counter of [...this.#faults.keys()]) this.#end(counter);
  }

  /** Whether a counter has no fault and had none for a while. */
  isHealthy(counter: string): boolean {
    return !this.#faults.has(counter) && (this.#healthyAtMs.get(counter) ?? 0) <= this.#time.nowMs;
  }

  /** Runs a commit as the faults of its members allow. */
  async commit<T>(commits: readonly Commit[], process: SimulatedProcess, run: () => Promise<T>): Promise<T> {
    const found = commits.map(({ address }) => this.#of(address));
    if (!found.includes('lost') && !found.includes('late')) return run();
    await sleep(process, timeoutMs);
    if (!found.includes('lost')) await run();
    throw new StoreError('unknown', 'simulated: it timed out');
  }

  #of({ kind, id }: Address): StickyFaultKind | undefined {
    return kind === 'counter' ? this.#faults.get(id) : undefined;
  }

  #end(counter: string): void {
    if (!this.#faults.delete(counter)) return;
    this.#healthyAtMs.set(counter, this.#time.nowMs + recoveryMs);
    this.#database.unlock(addressOf(counter));
  }
}

const addressOf = (id: string): Address => ({ kind: 'counter', id });
