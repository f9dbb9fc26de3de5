import type { TimerRow } from '../store/store.ts';
import { tombstoneSlice } from '../store/tables.ts';
import type { LoadedState } from './activation.ts';
import type { PendingCommit } from './gate.ts';
import { Layers, removed } from './layers.ts';
import { Rows } from './rows.ts';
import type { RecordedTurn } from './turn.ts';

/** The memory of an actor that has no state. */
const emptyStateBytes = 6_000;

/** The state of an active actor in memory: the durable state, and over it the writes still at the gate. */
export class ActorState {
  readonly slices = new Layers<unknown>();
  readonly timers = new Layers<TimerRow>();
  readonly rows: Rows;
  /** The number of the last durable commit of this activation. */
  durableCommit = 0;

  constructor(cachedRowBytesMax: number) {
    this.rows = new Rows(cachedRowBytesMax);
  }

  get isTombstone(): boolean {
    return this.slices.durable.has(tombstoneSlice);
  }

  /** True if the actor has no state after its turns so far, except perhaps a tombstone. Its row may then be removed after a day. */
  get hasEnded(): boolean {
    for (const name of this.slices.keys()) if (name !== tombstoneSlice) return false;
    return this.timers.keys().next().done === true;
  }

  /** Approximate bytes in memory, cheap to compute. The gate counts its own bytes. */
  get bytes(): number {
    return emptyStateBytes + this.slices.durableBytes + this.timers.durableBytes + this.rows.cachedBytes;
  }

  load(loaded: LoadedState): void {
    for (const [name, value] of loaded.slices) this.slices.load(name, value);
    for (const timer of loaded.timers) this.timers.load(timer.name, timer);
  }

  /** Overlays the state with what a turn recorded, as part of the commit numbered `commit`. */
  overlay(recorded: RecordedTurn, commit: number): void {
    for (const [name, change] of recorded.slices) {
      this.slices.overlay(name, change === removed ? removed : change.value, commit);
    }
    for (const [name, timer] of recorded.timers) this.timers.overlay(name, timer, commit);
    for (const { key, write } of recorded.rows.values()) {
      this.rows.overlay(write.table, key, 'put' in write ? write.put : removed, commit);
    }
  }

  /** The commit is durable. */
  promote(pending: PendingCommit): void {
    this.durableCommit = pending.number;
    for (const [name, change] of pending.slices)
      this.slices.promote(name, change === removed ? removed : change.value, pending.number);
    for (const [name, timer] of pending.timers) this.timers.promote(name, timer, pending.number);
    this.rows.promote(pending.written(), pending.number);
  }

  /** Drops everything that is not durable. */
  revert(): void {
    this.slices.revert();
    this.timers.revert();
    this.rows.revert(this.durableCommit);
  }
}
