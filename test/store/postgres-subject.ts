import pg from 'pg';
import { batchCommit } from '../../runtime/store/postgres/commit.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import type { Statement } from '../../runtime/store/postgres/sql.ts';
import { openPostgresStore, type StoreSql, storeSql } from '../../runtime/store/postgres/store.ts';
import type { NodeRow, Store } from '../../runtime/store/store.ts';
import { createTable } from '../kit/create-table.ts';
import type { DatabaseConnection, TestPostgres } from '../kit/postgres.ts';
import type { Flight, Subject } from './subject.ts';
import { contractTables } from './tables.ts';

const pollsMax = 20_000;
/** Longer than it takes to see that a commit waits. */
const patientMs = 5_000;
const impatientMs = 20;
/** A node whose row is locked to keep a connection busy. */
const bystander: NodeRow = {
  id: 'bystander',
  incarnation: 'bystander',
  address: 'local',
  roles: 'all',
  version: '1',
  formats: '1',
};

export interface PostgresVariant {
  readonly sql?: StoreSql;
  readonly wrap?: (store: Store, connection: DatabaseConnection) => Store;
  /** Has rows while a statement of the database waits for a lock. */
  readonly waiting?: string;
}

const postgresWaiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
export const cockroachWaiting =
  'SELECT lock_key FROM crdb_internal.cluster_locks WHERE database_name = current_database() AND NOT granted';

export async function postgresSubject(server: TestPostgres, variant: PostgresVariant = {}): Promise<Subject> {
  const connection = await server.createDatabase();
  await migrate(connection, [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))]);
  const open = async (lockWaitMs: number): Promise<Store> => {
    const store = await openPostgresStore({
      connection,
      sizes: { leases: 1 },
      lockWaitMs,
      sql: variant.sql ?? storeSql,
    });
    return variant.wrap?.(store, connection) ?? store;
  };
  const store = await open(patientMs);
  const other = await open(patientMs);
  const impatient = await open(impatientMs);
  const observer = new pg.Client(connection);
  await observer.connect();
  const whenBlocked = (pending: Promise<unknown>) =>
    untilBlocked(observer, variant.waiting ?? postgresWaiting, pending);

  return {
    store,
    other,
    impatient,
    lockHeld: (address) =>
      inFlight(connection, (query) =>
        query({
          text: 'SELECT version FROM actor WHERE kind = $1 AND id = $2 FOR UPDATE',
          values: [address.kind, address.id],
        }),
      ),
    commitInFlight: (commit) => inFlight(connection, async (query) => query(batchCommit([commit]).first)),
    barrierInFlight: (address, epoch) =>
      inFlight(connection, async (query) => query(storeSql.barrier(address, epoch))),
    claimInFlight: (nodeId, incarnation, shards) =>
      inFlight(connection, async (query) => {
        const [counter] = await query(storeSql.nextEpoch());
        const seen = shards.map((shard) => ({ shard, epoch: -1 }));
        await query(storeSql.takeShards(nodeId, incarnation, seen, Number(counter?.['value'])));
      }),
    async registrationInFlight(node, leaseMs) {
      await other.register(bystander, leaseMs);
      const renewal = storeSql.renew(bystander.id, bystander.incarnation, leaseMs);
      const lock = await inFlight(connection, (query) => query(renewal));
      const registration = other.register(node, leaseMs);
      // The one connection for leases goes to the first caller: this gets it between the two statements.
      const blocked = other.renew(bystander.id, bystander.incarnation, leaseMs);
      await whenBlocked(blocked);
      return {
        async finish() {
          await lock.finish();
          await blocked;
          await registration;
        },
      };
    },
    untilBlocked: whenBlocked,
    async close() {
      await Promise.all([store.close(), other.close(), impatient.close(), observer.end()]);
    },
  };
}

type Query = (statement: Statement) => Promise<readonly Record<string, unknown>[]>;

/** Runs statements in a transaction that stays open until `finish`. */
async function inFlight(
  connection: DatabaseConnection,
  work: (query: Query) => Promise<unknown>,
): Promise<Flight> {
  const client = new pg.Client(connection);
  await client.connect();
  // PostgreSQL's own default; CockroachDB's is another.
  await client.query('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await client.query('BEGIN');
  await work(async ({ text, values }) => (await client.query(text, [...values])).rows);
  return {
    async finish() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

async function untilBlocked(observer: pg.Client, waiting: string, pending: Promise<unknown>): Promise<void> {
  let isEnded = false;
  const end = () => {
    isEnded = true;
  };
  pending.then(end, end);
  for (let poll = 0; poll < pollsMax && !isEnded; poll += 1) {
    if ((await observer.query(waiting)).rows.length > 0) return;
  }
  if (!isEnded) throw new Error('the statement neither ended nor waits for a lock');
}
