import type { Gathering } from '../commit/gathering.ts';
import type { TimerRow } from '../store/store.ts';
import type { LoadedState } from './activation.ts';
import { Layers, removed } from './layers.ts';
import { Rows } from './rows.ts';
import { buriedSlice, type Recorded } from './turn.ts';

/** A reckoning, not a measurement: what a process really grows by is about three times as much (README, Figures). */
const emptyStateBytes = 4_096;
const sliceBytes = 512;

/** What an active actor holds in memory: its durable state, and over it what is still at the gate. */
export class ActorState {
  readonly slices = new Layers<unknown>();
  readonly timers = new Layers<TimerRow>();
  readonly rows: Rows;
  /** The number of the last durable commit of this activation. */
  durableCommit = 0;

  constructor(cachedRowBytesMax: number) {
    this.rows = new Rows(cachedRowBytesMax);
  }

  get isBuried(): boolean {
    return this.slices.durable.has(buriedSlice);
  }

  /** A rough size in memory, cheap to ask. */
  get bytes(): number {
    return emptyStateBytes + this.slices.durable.size * sliceBytes + this.rows.cachedBytes;
  }

  load(loaded: LoadedState): void {
    for (const [name, value] of loaded.slices) this.slices.load(name, value);
    for (const timer of loaded.timers) this.timers.load(timer.name, timer);
  }

  /** Lays what a turn recorded over the state, as part of the commit numbered `commit`. */
  lay(recorded: Recorded, commit: number): void {
    for (const [name, change] of recorded.slices) {
      this.slices.lay(name, change === removed ? removed : change.value, commit);
    }
    for (const [name, timer] of recorded.timers) this.timers.lay(name, timer, commit);
    for (const { key, write } of recorded.rows.values()) {
      this.rows.lay(write.table, key, 'put' in write ? write.put : removed, commit);
    }
  }

  /** The commit is durable. */
  promote(gathering: Gathering): void {
    this.durableCommit = gathering.number;
    const slices = new Map(
      [...gathering.slices].map(
        ([name, change]) => [name, change === removed ? removed : change.value] as const,
      ),
    );
    this.slices.promote(slices, gathering.number);
    this.timers.promote(gathering.timers, gathering.number);
    this.rows.promote(gathering.written(), gathering.number);
  }

  /** Back to what is durable. */
  revert(): void {
    this.slices.revert();
    this.timers.revert();
    this.rows.revert(this.durableCommit);
  }
}
