/**
 * Rows of an actor that are newer than a read may have seen.
 *
 * A read begins at some moment and is used later. Meanwhile commits of the same actor become durable. The answer holds
 * everything that was durable when the read began, and may lack what came after. So:
 * - A row of commit c is kept until c is durable, and then until every read that began before that has been used.
 * - A turn sees, for every key, the retained row if there is one, and otherwise the row of the answer.
 *
 * The actor alone writes its rows, so a retained row is never stale. Rows that no read needs any more stay as a small cache; the
 * oldest are dropped first.
 */

import type { AnyRow, AnyTable } from '../table.ts';
import { type RemovedMark, removed } from './layers.ts';
import { heapBytes } from './memory.ts';

export interface RetainedRow {
  readonly table: AnyTable;
  readonly key: string;
  readonly row: AnyRow | RemovedMark;
  readonly commit: number;
  readonly bytes: number;
}

/** A read that has begun and whose turn has not run yet. */
export interface ReadTicket {
  readonly begunAfterCommit: number;
}

/** The memory of a retained row besides its values: its position, its key, and how it is found. */
export const rowOverheadBytes = 256;
/** A larger row would push everything else out of the cache. */
const cachedRowShareMax = 1 / 4;

export const noRetainedRows: ReadonlyMap<string, RetainedRow> = new Map();

export class Rows {
  readonly #byTable = new Map<string, Map<string, RetainedRow>>();
  /** Durable retained rows, oldest first: candidates to drop. */
  readonly #durable = new Set<RetainedRow>();
  /** The rows of these that are kept only because reads are outstanding. */
  readonly #uncached = new Set<RetainedRow>();
  /** Keyed by table: memory holds every row of a greater order than this. Absent until the first write to the table. */
  readonly #completeAbove = new Map<string, number>();
  readonly #tickets = new Set<ReadTicket>();
  /** Outstanding reads keep more than the cache may hold. */
  #exceeds = false;
  readonly #cacheBytesMax: number;
  #cachedBytes = 0;

  constructor(cacheBytesMax: number) {
    this.#cacheBytesMax = cacheBytesMax;
  }

  /** Approximate bytes of the durable rows that are kept. */
  get cachedBytes(): number {
    return this.#cachedBytes;
  }

  /** Whether a read has begun whose turn has not run yet. */
  get isRead(): boolean {
    return this.#tickets.size > 0;
  }

  begin(durableCommit: number): ReadTicket {
    const ticket = { begunAfterCommit: durableCommit };
    this.#tickets.add(ticket);
    return ticket;
  }

  end(ticket: ReadTicket): void {
    this.#tickets.delete(ticket);
  }

  /** Drops rows that were kept for reads only. Call it between turns: a running turn may need rows that its read missed. */
  release(): void {
    if (this.#exceeds && this.#tickets.size === 0) this.#trim();
  }

  get(table: AnyTable, key: string): RetainedRow | undefined {
    return this.#byTable.get(table.name)?.get(key);
  }

  /** All rows of a greater order, ascending, if memory is sure to hold every one of them. Otherwise undefined. */
  above(table: AnyTable, after: number): readonly AnyRow[] | undefined {
    const { order } = table;
    if (order === undefined || after < (this.#completeAbove.get(table.name) ?? Number.POSITIVE_INFINITY)) {
      return undefined;
    }
    const found: AnyRow[] = [];
    for (const { row } of this.of(table).values()) {
      if (row !== removed && Number(row[order]) > after) found.push(row);
    }
    return found.sort((a, b) => Number(a[order]) - Number(b[order]));
  }

  /** Every retained row of a table, by its key. */
  of(table: AnyTable): ReadonlyMap<string, RetainedRow> {
    return this.#byTable.get(table.name) ?? noRetainedRows;
  }

  overlay(table: AnyTable, key: string, row: AnyRow | RemovedMark, commit: number): void {
    let rows = this.#byTable.get(table.name);
    if (rows === undefined) {
      rows = new Map();
      this.#byTable.set(table.name, rows);
    }
    const before = rows.get(key);
    if (before !== undefined) this.#forget(before);
    rows.set(key, { table, key, row, commit, bytes: row === removed ? rowOverheadBytes : rowBytes(row) });
    if (this.#completeAbove.has(table.name)) return;
    // Orders only grow, so nothing that was written before this row is above it.
    const order = orderOf(table, row);
    if (order !== undefined) this.#completeAbove.set(table.name, order - 1);
  }

  /** Commit `commit`, which wrote these keys, is durable. */
  promote(written: Iterable<{ table: AnyTable; key: string }>, commit: number): void {
    for (const { table, key } of written) {
      const entry = this.get(table, key);
      if (entry?.commit !== commit) continue;
      this.#durable.add(entry);
      this.#cachedBytes += entry.bytes;
      if (!this.#mayBeCached(entry)) this.#uncached.add(entry);
    }
    this.#trim();
  }

  /** Forgets every row above the durable commit. */
  revert(durableCommit: number): void {
    this.#completeAbove.clear();
    // A speculative row may have covered a durable one that an outstanding read needs. A revert begins every
    // read again, so what is left here is only a cache.
    for (const rows of this.#byTable.values()) {
      for (const entry of rows.values()) if (entry.commit > durableCommit) rows.delete(entry.key);
    }
  }

  /** Every commit calls this, so it must not iterate over rows that stay. */
  #trim(): void {
    this.#exceeds = false;
    if (this.#cachedBytes <= this.#cacheBytesMax && this.#uncached.size === 0) return;
    let oldestRead = Number.POSITIVE_INFINITY;
    for (const ticket of this.#tickets) oldestRead = Math.min(oldestRead, ticket.begunAfterCommit);
    for (const entry of this.#uncached) this.#dropUnlessNeeded(entry, oldestRead);
    for (const entry of this.#durable) {
      if (this.#cachedBytes <= this.#cacheBytesMax) return;
      this.#dropUnlessNeeded(entry, oldestRead);
    }
  }

  #dropUnlessNeeded(entry: RetainedRow, oldestRead: number): void {
    if (entry.commit > oldestRead) this.#exceeds = true;
    else this.#drop(entry);
  }

  #mayBeCached({ table, bytes }: RetainedRow): boolean {
    return table.rarelyRead !== true && bytes <= this.#cacheBytesMax * cachedRowShareMax;
  }

  /** Call when another row takes its key, or when it is dropped. */
  #forget(entry: RetainedRow): void {
    if (!this.#durable.delete(entry)) return;
    this.#uncached.delete(entry);
    this.#cachedBytes -= entry.bytes;
  }

  #drop(entry: RetainedRow): void {
    const { table, key, row } = entry;
    this.#forget(entry);
    this.#byTable.get(table.name)?.delete(key);
    const order = orderOf(table, row);
    const completeAbove = this.#completeAbove.get(table.name);
    if (order === undefined || completeAbove === undefined) return;
    this.#completeAbove.set(table.name, Math.max(completeAbove, order));
  }
}

function orderOf(table: AnyTable, row: AnyRow | RemovedMark): number | undefined {
  return row === removed || table.order === undefined ? undefined : Number(row[table.order]);
}

/** Approximate bytes of a row that is kept. */
export const rowBytes = (row: AnyRow): number => rowOverheadBytes + heapBytes(row);
