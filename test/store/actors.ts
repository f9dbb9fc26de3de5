/** Shorthands of the contract: actors, commits and the kind of a rejection. */
import assert from 'node:assert/strict';
import type { Address } from '../../runtime/address.ts';
import {
  type ActorRow,
  type Commit,
  type Store,
  StoreError,
  type SweepRead,
  type Write,
} from '../../runtime/store/store.ts';
import { sliceTable } from '../../runtime/store/tables.ts';
import type { AnyKey, AnyRow, AnyTable } from '../../runtime/table.ts';
import { uuid } from './tables.ts';

export const actor = (number: number): Address => ({ kind: 'user', id: uuid(number) });

export async function activate(store: Store, address: Address, epoch = 1): Promise<ActorRow> {
  const activation = await store.activate(address, 0, epoch, true);
  assert.equal(activation.outcome, 'active');
  assert.ok(activation.outcome === 'active');
  return activation.row;
}

/** A commit on top of `row`. `number` makes its commit id. */
export function commitOn(row: ActorRow, address: Address, number: number, writes: readonly Write[]): Commit {
  return { address, epoch: row.epoch, version: row.version, commitId: uuid(number), writes };
}

export function commitAfter(commit: Commit, number: number, writes: readonly Write[]): Commit {
  return { ...commit, version: commit.version + 1, commitId: uuid(number), writes };
}

export const put = (table: AnyTable, row: AnyRow): Write => ({ table, put: row, isNew: false });
export const insert = (table: AnyTable, row: AnyRow): Write => ({ table, put: row, isNew: true });
export const remove = (table: AnyTable, key: AnyKey): Write => ({ table, remove: key });

export function putSlice(address: Address, slice: string, text: string): Write {
  return put(sliceTable, { ...address, slice, data: Buffer.from(text) });
}

export async function sliceTexts(store: Store, address: Address): Promise<Record<string, string>> {
  const rows = await store.slices(address);
  return Object.fromEntries(rows.map((row) => [row.slice, row.data.toString()]));
}

export async function rowsOf(store: Store, table: AnyTable, ...keys: AnyKey[]): Promise<readonly AnyRow[]> {
  const [result] = await store.read([{ read: 'keys', table, keys }]);
  return result?.rows ?? [];
}

export async function assertPasses(store: Store, commits: readonly Commit[], passing: readonly number[]) {
  assert.deepEqual([...(await store.commit(commits))].sort(), passing);
}

export async function assertFails(attempt: Promise<unknown>, failure: StoreError['failure']): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof StoreError, `not a StoreError: ${error}`);
    assert.equal(error.failure, failure, error.message);
    return true;
  });
}

/** `writes` as the first commit of an actor made for it. */
export async function commitWrites(store: Store, address: Address, writes: readonly Write[]): Promise<void> {
  await assertPasses(store, [commitOn(await activate(store, address), address, 1, writes)], [0]);
}

/** For each shard as much as for all. */
export function sweepOf(
  shards: readonly number[],
  fromMs: number,
  untilMs: number,
  limit: number,
): SweepRead {
  return { shards, fromMs, untilMs, limit, share: limit };
}
