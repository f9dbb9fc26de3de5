/**
 * The output gate of one actor. It keeps the outcomes of turns until their commit is durable.
 *
 * Turns run one after another on the speculative state: the durable state plus the writes of earlier turns. The gate merges
 * their writes into the pending commit while at most one commit of the actor is in flight. An outcome, good or bad, that may
 * depend on speculative state leaves only when the commit with that state is durable.
 */

import type { Address } from '../address.ts';
import { TerminalError } from '../errors.ts';
import { sliceBytesMax } from '../slice.ts';
import { encode } from '../store/encoding.ts';
import { type Commit, putOver, type TellRow, type TimerRow, type Write } from '../store/store.ts';
import { outboxTable, sliceTable, timerTable } from '../store/tables.ts';
import type { AnyTable } from '../table.ts';
import { type RemovedMark, removed } from './layers.ts';
import { heapBytes, mapEntryBytes, textBytes } from './memory.ts';
import type { MessageOutcome, QueuedMessage } from './message.ts';
import { rowBytes, rowOverheadBytes } from './rows.ts';
import type { RecordedTell, RecordedTurn } from './turn.ts';

/** A commit that the committer has taken and not answered yet. */
export interface CommitInFlight {
  readonly pending: PendingCommit;
  readonly commitId: string;
}

export class Gate {
  #pending = new PendingCommit(1);
  #flight: CommitInFlight | undefined;

  get flight(): CommitInFlight | undefined {
    return this.#flight;
  }

  /** Turns wait to be committed. */
  get hasPending(): boolean {
    return !this.#pending.isEmpty;
  }

  get isEmpty(): boolean {
    return !this.hasPending && this.#flight === undefined;
  }

  get pendingBytes(): number {
    return this.#pending.bytes;
  }

  /** How many outcomes wait. */
  get size(): number {
    return this.#pending.carried.length + (this.#flight?.pending.carried.length ?? 0);
  }

  /** Everything that waits, in the order in which the turns ran. */
  get carried(): readonly WaitingOutcome[] {
    return [...(this.#flight?.pending.carried ?? []), ...this.#pending.carried];
  }

  get pendingOutcomes(): readonly WaitingOutcome[] {
    return this.#pending.carried;
  }

  /** Whether another turn may join the pending commit. A turn to be committed alone joins an empty one only. */
  admits(turn: { readonly unmerged: boolean }, pendingBytesMax: number): boolean {
    if (this.#pending.isClosed || this.#pending.bytes >= pendingBytesMax) return false;
    return !turn.unmerged || !this.hasPending;
  }

  /** Whether the writes of a turn have to wait until the pending commit is durable (see `PendingCommit.frees`). */
  mustWait(recorded: RecordedTurn): boolean {
    return this.#pending.frees(recorded);
  }

  /** No turn joins the pending commit any more. */
  closePending(): void {
    this.#pending.isClosed = true;
  }

  /** Keeps an outcome without writes until the last commit that it may depend on is durable. False if there is none. */
  hold(outcome: WaitingOutcome): boolean {
    const last = this.hasPending ? this.#pending : this.#flight?.pending;
    last?.carried.push(outcome);
    return last !== undefined;
  }

  /** Adds the writes of a turn to the pending commit, and keeps its outcome. Returns the number of that commit. */
  addPending(outcome: WaitingOutcome, recorded: RecordedTurn): number {
    this.#pending.carried.push(outcome);
    this.#pending.add(recorded);
    if (outcome.queued.unmerged) this.closePending();
    return this.#pending.number;
  }

  /** Hands out the pending commit as the one in flight, and begins the next. */
  launch(commitId: string): PendingCommit {
    const pending = this.#pending;
    this.#flight = { pending, commitId };
    this.#pending = new PendingCommit(pending.number + 1);
    return pending;
  }

  /** The commit in flight is durable. */
  land(): void {
    this.#flight = undefined;
  }

  /** Forgets everything that is not durable. */
  clear(durableCommit: number): void {
    this.#flight = undefined;
    this.#pending = new PendingCommit(durableCommit + 1);
  }
}

/**
 * The turns whose writes may have made this commit fail. A turn that is committed alone comes first, and the turns that joined
 * it wrote nothing.
 */
export function possibleCauses({ carried }: PendingCommit): readonly WaitingOutcome[] {
  return carried[0]?.queued.unmerged ? carried.slice(0, 1) : carried;
}

// --- the pending commit ------------------------------------------------------------------------------------

/*
 * The turns of one actor that will become durable together. It merges their writes to one final write per table and key, and
 * keeps the outcomes that wait for them at the gate.
 */

/** A message whose turn has run, and whose outcome waits for the commit. */
export interface WaitingOutcome {
  readonly queued: QueuedMessage;
  readonly outcome: MessageOutcome;
}

type SliceChange = { value: unknown; format: number } | RemovedMark;

export class PendingCommit {
  /** Counts the commits of one activation, from 1. */
  readonly number: number;
  readonly carried: WaitingOutcome[] = [];
  readonly slices = new Map<string, SliceChange>();
  readonly timers = new Map<string, TimerRow | RemovedMark>();
  readonly tells: RecordedTell[] = [];
  readonly #rows = new Map<string, { key: string; write: Write }>();
  /** Approximate bytes in memory: the last write of each slice, timer and row. */
  bytes = 0;
  /** No other turn may join. */
  isClosed = false;

  constructor(number: number) {
    this.number = number;
  }

  get isEmpty(): boolean {
    return this.carried.length === 0;
  }

  get rows(): Iterable<{ key: string; write: Write }> {
    return this.#rows.values();
  }

  /** Every row written, as table and key. */
  *written(): Generator<{ table: AnyTable; key: string }> {
    for (const { key, write } of this.#rows.values()) yield { table: write.table, key };
  }

  /**
   * Whether a turn inserts a key that another turn of this commit has removed. It has to wait for the next commit. Otherwise only
   * the last of the two writes of one key would be left, and the row of an earlier `generation` would never be removed.
   */
  frees(recorded: RecordedTurn): boolean {
    for (const [id, { write }] of recorded.rows) {
      if (!('put' in write) || !write.isNew || write.table.generation === undefined) continue;
      const before = this.#rows.get(id)?.write;
      if (before !== undefined && 'remove' in before) return true;
    }
    return false;
  }

  add(recorded: RecordedTurn): void {
    for (const [name, change] of recorded.slices) this.#set(this.slices, name, change);
    for (const [name, timer] of recorded.timers) this.#set(this.timers, name, timer);
    for (const tell of recorded.tells) this.bytes += heapBytes(tell);
    this.tells.push(...recorded.tells);
    for (const [id, { key, write }] of recorded.rows) this.#merge(id, key, write);
  }

  #set<Change>(changes: Map<string, Change>, name: string, change: Change): void {
    const before = changes.get(name);
    if (before === undefined) this.bytes += mapEntryBytes + textBytes(name);
    this.bytes += heapBytes(change) - heapBytes(before);
    changes.set(name, change);
  }

  #merge(id: string, key: string, write: Write): void {
    const before = this.#rows.get(id)?.write;
    this.bytes += writeBytes(write) - (before === undefined ? 0 : writeBytes(before));
    this.#rows.set(id, { key, write: 'put' in write ? putOver(before, write) : write });
  }

  /** @throws TerminalError when a slice has outgrown its bound. */
  build(address: Address, epoch: number, version: number, commitId: string): Commit {
    const writes: Write[] = [];
    for (const [name, change] of this.slices) writes.push(sliceWrite(address, name, change));
    for (const [name, timer] of this.timers) writes.push(timerWrite(address, name, timer));
    for (const tell of this.tellRows(version + 1))
      writes.push({ table: outboxTable, put: { ...tell }, isNew: true });
    for (const { write } of this.#rows.values()) writes.push(write);
    return { address, epoch, version, commitId, writes };
  }

  /** The tells as the outbox has them after the commit that makes `senderVersion` durable. */
  tellRows(senderVersion: number): TellRow[] {
    return this.tells.map((tell) => ({ ...tell, sender_version: senderVersion }));
  }
}

const writeBytes = (write: Write) => ('put' in write ? rowBytes(write.put) : rowOverheadBytes);

function sliceWrite({ kind, id }: Address, slice: string, change: SliceChange): Write {
  if (change === removed) return { table: sliceTable, remove: { kind, id, slice } };
  const data = encode(change.format, change.value);
  if (data.length > sliceBytesMax) throw new TerminalError(`slice ${slice} is over ${sliceBytesMax} bytes`);
  return { table: sliceTable, put: { kind, id, slice, data }, isNew: false };
}

function timerWrite({ kind, id }: Address, name: string, timer: TimerRow | RemovedMark): Write {
  if (timer === removed) return { table: timerTable, remove: { kind, id, name } };
  return { table: timerTable, put: { ...timer }, isNew: false };
}
