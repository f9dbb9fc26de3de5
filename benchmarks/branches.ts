/**
 * The first rows of each shard or owner, by LATERAL, which the server uses for PostgreSQL, and by UNION ALL, which it
 * uses for CockroachDB. Both run on PostgreSQL (fsync on), in turns, to choose the better one for it.
 *
 * npx tsx benchmarks/branches.ts [--runs 9]
 */
import pg from 'pg';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import {
  cockroachSql,
  openPostgresStore,
  type PostgresStore,
  type StoreSql,
  storeSql,
} from '../runtime/store/postgres/store.ts';
import type { CrossOwnerRead } from '../runtime/store/store.ts';
import { memberTable, parcelTable, uuid } from '../test/store/tables.ts';
import { withDatabase } from './support/database.ts';
import { medianMs, printComparison } from './support/figures.ts';
import { numberOptions } from './support/options.ts';

const { runs } = numberOptions({ runs: 9 });
const shardCount = 1_024;
const owners = 500;
const rowsOfOwner = 200;
const dueRows = 100_000;
const member = uuid(9_999);
const repeats = 21;
const everyTime = 1e12;

async function fill(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  const owner = `lpad(to_hex(o), 32, '0')::uuid`;
  await client.query(
    `INSERT INTO timer SELECT 'alarm', n::text, 'ring', n % ${shardCount}, 1000 + n, '', 0, false
      FROM generate_series(0, ${dueRows - 1}) AS n`,
  );
  await client.query(
    `INSERT INTO parcel (owner_uuid, uuid, position, made, born, hop)
      SELECT ${owner}, gen_random_uuid(), n, n, true, NULL
      FROM generate_series(1, ${owners}) AS o, generate_series(1, ${rowsOfOwner}) AS n`,
  );
  await client.query(
    `INSERT INTO member SELECT ${owner}, '${member}'::uuid, 1 FROM generate_series(1, ${owners}) AS o`,
  );
  await client.query('ANALYZE');
  await client.end();
}

const ownerUuid = (number: number): string => {
  const hex = number.toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

const shardsOf = (count: number) => Array.from({ length: count }, (_, shard) => shard);

/** A page of 150 rows of `count` owners, each with `behind` rows that the reader has not seen. */
const crossOwner = (count: number, behind: number): CrossOwnerRead => ({
  read: 'crossOwner',
  table: parcelTable,
  membership: { table: memberTable, member },
  limit: 150,
  owners: Array.from({ length: count }, (_, at) => ({
    owner: ownerUuid(at + 1),
    after: rowsOfOwner - behind,
  })),
});

const readsByName: Readonly<Record<string, (store: PostgresStore) => Promise<unknown>>> = Object.fromEntries([
  ...[4, 55, shardCount].flatMap((count) => [
    [`ms, ${count} shards with a backlog`, sweep(count, 0)],
    [`ms, ${count} shards with nothing`, sweep(count, everyTime)],
  ]),
  ...[1, 8, 64, owners].flatMap((count) => [
    [`ms, ${count} vaults, nothing new`, (store: PostgresStore) => store.read([crossOwner(count, 0)])],
    [`ms, ${count} vaults, all new`, (store: PostgresStore) => store.read([crossOwner(count, rowsOfOwner)])],
  ]),
]);

function sweep(count: number, fromMs: number) {
  const read = { shards: shardsOf(count), fromMs, untilMs: 2 * everyTime, limit: 128, share: 8 };
  return (store: PostgresStore) => store.dueTimers(read);
}

async function figuresOf(store: PostgresStore): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const [name, ask] of Object.entries(readsByName))
    figures[name] = await medianMs(repeats, () => ask(store));
  return figures;
}

await withDatabase([parcelTable, memberTable], async (connection) => {
  await fill(connection);
  const open = (sql: StoreSql) => openPostgresStore({ connection, sql, sizes: { reads: 1, sweeps: 1 } });
  const [lateral, branches] = [await open(storeSql), await open(cockroachSql)];
  const before: Record<string, number>[] = [];
  const after: Record<string, number>[] = [];
  for (let run = 0; run < runs; run += 1) {
    before.push(await figuresOf(lateral));
    after.push(await figuresOf(branches));
  }
  printComparison('at PostgreSQL', ['LATERAL', 'UNION ALL'], [before, after]);
  await lateral.close();
  await branches.close();
});
process.exit(0);
