import type { Store, StoreRead } from '../store/store.ts';
import { type AnyRow, type AnyTable, keyText, refusesByKey, tupleText } from '../table.ts';
import type { Gathering } from './gathering.ts';
import type { TakenRow } from './taken-rows.ts';

/**
 * Which committed rows hold the keys that this commit wanted to write as new, all looked up in one query per
 * key. A row that the commit knowingly rewrites holds its own keys by right and is left out.
 */
export async function findTaken(store: Store, gathering: Gathering): Promise<readonly TakenRow[]> {
  const reads = lookups(gathering);
  if (reads.length === 0) return [];
  const answers = await store.read(reads);
  const rewritten = new Set<string>();
  for (const { key, write } of gathering.rows) {
    if ('put' in write && !write.isNew) rewritten.add(`${write.table.name}\u0000${key}`);
  }
  return answers.flatMap(({ rows }, index) => {
    const table = reads[index]?.table;
    if (table === undefined) return [];
    return rows
      .filter((row) => !rewritten.has(`${table.name}\u0000${keyText(table, row)}`))
      .map((row) => ({ table, row }));
  });
}

function lookups(gathering: Gathering): StoreRead[] {
  const byKey = new Map<
    string,
    { table: AnyTable; unique: readonly string[]; values: Map<string, AnyRow> }
  >();
  for (const { write } of gathering.rows) {
    if (!('put' in write)) continue;
    for (const unique of refusingKeys(write.table)) {
      const id = `${write.table.name} ${unique.join()}`;
      const wanted = byKey.get(id) ?? { table: write.table, unique, values: new Map<string, AnyRow>() };
      const value = Object.fromEntries(unique.map((column) => [column, write.put[column] ?? null]));
      wanted.values.set(tupleText(unique, value), value);
      byKey.set(id, wanted);
    }
  }
  return [...byKey.values()].map(({ table, unique, values }) => ({
    read: 'lookup',
    table,
    unique,
    values: [...values.values()],
  }));
}

function refusingKeys(table: AnyTable): readonly (readonly string[])[] {
  return refusesByKey(table) ? [table.key, ...table.unique] : table.unique;
}
