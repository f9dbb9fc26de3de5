/**
 * Declarations and migrations are written separately. This test creates each declared table beside the schema of the
 * migrations, and lets PostgreSQL show the differences.
 */
import test from 'ava';
import { item } from '../../../actors/collection/item.ts';
import { accountTable } from '../../../actors/identity/account-table.ts';
import { tables as domainTables } from '../../../actors/kinds.ts';
import { migrations } from '../../../process/schema.ts';
import type { Migration } from '../../../runtime/migration.ts';
import { migrate } from '../../../runtime/store/postgres/migrate.ts';
import { runtimeTables, timerTable } from '../../../runtime/store/tables.ts';
import type { AnyTable } from '../../../runtime/table.ts';
import { createTable } from '../../kit/create-table.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import { type Catalogue, catalogueOf } from './catalogue.ts';

/** Written by statements of the store and declared nowhere. */
const undeclared = ['actor', 'counter', 'migration', 'migration_lock', 'node', 'setting', 'shard'];

/** The store uses these to find due rows in a shard, for any owner, and the rows of an owner. */
const indexesOfSweeps: Readonly<Record<string, string>> = {
  timer_due: 'CREATE INDEX timer_due ON public.timer USING btree (shard, due_at) WHERE (dead = false)',
  outbox_pending:
    'CREATE INDEX outbox_pending ON public.outbox USING btree (target_shard, retry_at) WHERE (dead = false)',
  call_age: 'CREATE INDEX call_age ON public.call USING btree (shard, at)',
  actor_by_end:
    'CREATE INDEX actor_by_end ON public.actor USING btree (shard, ended_at) WHERE (ended_at IS NOT NULL)',
  shard_by_incarnation: 'CREATE INDEX shard_by_incarnation ON public.shard USING btree (incarnation)',
};

let server: TestPostgres;
let migrated: Catalogue;
test.before(async () => {
  server = await startTestPostgres();
  migrated = await schemaOf(migrations);
});
test.after.always(() => server?.stop());

async function schemaOf(from: readonly Migration[]): Promise<Catalogue> {
  const connection = await server.createDatabase();
  await migrate(connection, from);
  return catalogueOf(connection);
}

interface Lines {
  /** Declared but missing. */
  readonly missing: readonly string[];
  /** Present but not declared. */
  readonly undeclared: readonly string[];
}

/** The differences between the tables of the migrations and `tables`. */
async function differences(tables: readonly AnyTable[]): Promise<Lines> {
  const { migration: _, migration_lock: __, ...declared } = await schemaOf(tables.flatMap(createTable));
  const expected = linesOf(declared);
  const found = linesOf(
    Object.fromEntries(Object.keys(declared).map((name) => [name, migrated[name] ?? noTable])),
  ).filter((line) => !Object.values(indexesOfSweeps).includes(line));
  return {
    missing: expected.filter((line) => !found.includes(line)),
    undeclared: found.filter((line) => !expected.includes(line)),
  };
}

const noTable = { columns: {}, indexes: {} };

/** A line for each column and index. Writers name every column, so that only the migrations need defaults. */
function linesOf(schema: Catalogue): readonly string[] {
  return Object.entries(schema).flatMap(([table, { columns, indexes }]) => [
    ...Object.entries(columns).map(
      ([name, definition]) => `${table}.${name} ${definition.replace(/ DEFAULT .*/, '')}`,
    ),
    ...Object.values(indexes),
  ]);
}

test('the migrations make every declared table as it is declared', async (t) => {
  t.deepEqual(await differences([...runtimeTables, ...domainTables]), { missing: [], undeclared: [] });
});

test('the migrations make no table that nobody knows', async (t) => {
  const declared = Object.keys(await schemaOf([...runtimeTables, ...domainTables].flatMap(createTable)));
  t.deepEqual(Object.keys(migrated).sort(), [...new Set([...declared, ...undeclared])].sort());
});

test('the tables that the store searches by shard, and the shards themselves, are indexed', (t) => {
  const found = Object.assign({}, ...Object.values(migrated).map(({ indexes }) => indexes));
  t.like(found, indexesOfSweeps);
});

const changed: readonly { readonly what: string; readonly table: AnyTable; readonly missing: RegExp }[] = [
  {
    what: 'a column',
    table: { ...accountTable, columns: { ...accountTable.columns, locale: 'text?' } },
    missing: /^account\.locale text$/,
  },
  {
    what: 'another type of a column',
    table: { ...accountTable, columns: { ...accountTable.columns, workspace: 'uuid' } },
    missing: /^account\.workspace uuid NOT NULL$/,
  },
  {
    what: 'a column that may be NULL',
    table: { ...item, columns: { ...item.columns, fingerprint: 'bytea?' } },
    missing: /^item\.fingerprint bytea$/,
  },
  {
    what: 'another key',
    table: { ...timerTable, key: ['kind', 'id'] },
    missing: /^CREATE UNIQUE INDEX timer_pkey .* \(kind, id\)$/,
  },
  {
    what: 'another birth',
    table: { ...item, generation: 'position' },
    missing: /^CREATE UNIQUE INDEX item_pkey .* \(collection, uuid, "position"\)$/,
  },
  {
    what: 'a unique key',
    table: { ...accountTable, unique: [...accountTable.unique, ['password_hash']] },
    missing: /^CREATE UNIQUE INDEX account_unique_password_hash /,
  },
  {
    what: 'an order',
    table: { ...accountTable, order: 'credentials_version' },
    missing: /^CREATE INDEX account_by_order /,
  },
  {
    what: 'an indexed subset',
    table: { ...item, subsets: { live: { column: 'deleted', values: [false], indexed: true } } },
    missing: /^CREATE INDEX item_by_live .* WHERE \(deleted = false\)$/,
  },
  {
    what: 'a large column',
    table: { ...accountTable, large: 'key_params' },
    missing: /^account_part\.content text NOT NULL$/,
  },
];

for (const { what, table, missing } of changed) {
  test(`${what} that is declared and that no migration makes is noticed`, async (t) => {
    const found = await differences([table]);
    t.true(
      found.missing.some((line) => missing.test(line)),
      found.missing.join('\n'),
    );
  });
}

test('a column that a migration makes and nobody declares is noticed', async (t) => {
  const { key_params: _, ...columns } = accountTable.columns;
  const found = await differences([{ ...accountTable, columns } as AnyTable]);
  t.deepEqual(found, { missing: [], undeclared: ['account.key_params text NOT NULL'] });
});
