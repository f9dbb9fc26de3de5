/**
 * The tables of a backup, from their declarations. It leaves out `node` and `shard`, which describe the running processes
 * alone, and the records of migrations, which are in the manifest. A test compares this list with the whole schema.
 */
import { tables as domainTables } from '../../actors/kinds.ts';
import { layoutOf } from '../../runtime/store/postgres/columns.ts';
import { runtimeTables } from '../../runtime/store/tables.ts';
import type { Columns } from '../../runtime/table.ts';

export interface BackupTable {
  readonly name: string;
  readonly columns: Columns;
  readonly primaryKey: readonly string[];
}

/** The rows that the runtime writes by statements of its own. */
const undeclared: readonly BackupTable[] = [
  {
    name: 'actor',
    columns: {
      kind: 'text',
      id: 'text',
      shard: 'int8',
      epoch: 'int8',
      version: 'int8',
      commit_id: 'uuid?',
      ended_at: 'int8?',
    },
    primaryKey: ['kind', 'id'],
  },
  { name: 'counter', columns: { name: 'text', value: 'int8' }, primaryKey: ['name'] },
  { name: 'setting', columns: { name: 'text', value: 'text' }, primaryKey: ['name'] },
];

const declared = [...runtimeTables, ...domainTables].flatMap((table): readonly BackupTable[] => {
  const { main, large } = layoutOf(table);
  return large === undefined ? [main] : [main, large.part];
});

/**
 * The tables of the runtime come first. CockroachDB keeps their past for ten minutes only (`gc.ttlseconds` in their migrations),
 * and a snapshot reads the past.
 */
export const backupTables: readonly BackupTable[] = [...undeclared, ...declared];
