/** What the contract cannot say of both stores: locks, broken connections, queues, plans and parts. */
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createTable } from '../../../test/kit/create-table.ts';
import { testNode } from '../../../test/kit/host.ts';
import { type DatabaseConnection, startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { PostgresProxy } from '../../../test/kit/postgres-proxy.ts';
import { SeededRandom } from '../../../test/kit/random.ts';
import { TcpProxy } from '../../../test/kit/tcp-proxy.ts';
import {
  activate,
  actor,
  assertFails,
  assertPasses,
  commitAfter,
  commitOn,
  insert,
  put,
  putSlice,
  remove,
  sliceTexts,
} from '../../../test/store/actors.ts';
import {
  contractTables,
  letterTable,
  memberTable,
  note,
  noteTable,
  parcelTable,
  uuid,
} from '../../../test/store/tables.ts';
import type { StoreRead } from '../store.ts';
import { migrate } from './migrate.ts';
import { runtimeMigrations } from './migrations.ts';
import { prepareSession } from './pool.ts';
import { planRead } from './reads.ts';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions, storeSql } from './store.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const ada = actor(1);
const bob = actor(2);

interface Setting {
  readonly connection: DatabaseConnection;
  readonly store: PostgresStore;
  readonly client: pg.Client;
}

/** Longer than it takes to see that a commit waits. */
const patientMs = 5_000;

async function setUp(t: ExecutionContext, options: Partial<PostgresStoreOptions> = {}): Promise<Setting> {
  const connection = await server.createDatabase();
  await migrate(connection, [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))]);
  const store = await openPostgresStore({ connection, lockWaitMs: patientMs, ...options });
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(async () => {
    await store.close();
    await client.end();
  });
  return { connection, store, client };
}

const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The server processes of this database that wait for a lock, once there are `count` of them. */
async function whenWaiting(connection: DatabaseConnection, count: number): Promise<readonly number[]> {
  const observer = new pg.Client(connection);
  await observer.connect();
  for (let poll = 0; poll < 20_000; poll += 1) {
    const { rows } = await observer.query<{ pid: number }>(waiting);
    if (rows.length < count) continue;
    await observer.end();
    return rows.map(({ pid }) => pid);
  }
  throw new Error(`never ${count} statements that wait`);
}

const lockRow = (address: typeof ada) => ({
  text: 'SELECT id FROM actor WHERE kind = $1 AND id = $2 FOR UPDATE',
  values: [address.kind, address.id],
});

test('a deadlock is a conflict: nothing was applied, and the same commits may be sent again', async (t) => {
  const { connection, store, client } = await setUp(t);
  const commits = [
    commitOn(await activate(store, ada), ada, 1, [putSlice(ada, 'profile', 'a')]),
    commitOn(await activate(store, bob), bob, 2, [putSlice(bob, 'profile', 'b')]),
  ];
  await client.query(`SET deadlock_timeout = '60s'`);
  await client.query('BEGIN');
  await client.query(lockRow(bob));
  const batch = store.commit(commits);
  await whenWaiting(connection, 1);
  // The batch holds the row of ada and waits for that of bob. It looks for deadlocks first, and so is the victim.
  const victim = assertFails(batch, 'conflict');
  await client.query(lockRow(ada));
  await victim;
  await client.query('ROLLBACK');
  t.deepEqual(await sliceTexts(store, ada), {});
  await assertPasses(store, commits, [0, 1]);
});

test('a commit that waits too long for a lock is a conflict', async (t) => {
  const { store, client } = await setUp(t, { statementTimeoutMs: 200 });
  const commit = commitOn(await activate(store, ada), ada, 1, []);
  await client.query('BEGIN');
  await client.query(lockRow(ada));
  await assertFails(store.commit([commit]), 'conflict');
  await client.query('ROLLBACK');
  await assertPasses(store, [commit], [0]);
  t.pass();
});

test('a connection killed under a commit leaves the outcome unknown, and a barrier settles it', async (t) => {
  const { connection, store, client } = await setUp(t);
  const commit = commitOn(await activate(store, ada), ada, 1, []);
  await client.query('BEGIN');
  await client.query(lockRow(ada));
  const lost = assertFails(store.commit([commit]), 'unknown');
  const [pid] = await whenWaiting(connection, 1);
  await client.query('SELECT pg_terminate_backend($1)', [pid]);
  await lost;
  await client.query('ROLLBACK');
  t.deepEqual(await store.barrier(ada, 1), { epoch: 1, version: 1, commitId: null });
  await assertPasses(store, [commit], []);
});

test('a renewal whose connection has gone silent fails while the lease still runs, and the next one takes another', async (t) => {
  const { connection, store: direct } = await setUp(t);
  const proxy = await TcpProxy.start({ path: `${connection.host}/.s.PGSQL.${connection.port}` });
  const store = await openPostgresStore({
    connection: { ...connection, host: '127.0.0.1', port: proxy.port },
  });
  t.teardown(async () => {
    await store.close();
    await proxy.stop();
  });
  const node = testNode(new SeededRandom(1));
  await store.register(node, 10_000);
  proxy.silence('to-client');
  const sentAtMs = performance.now();
  await assertFails(store.renew(node.id, node.incarnation, 10_000), 'unknown');
  t.true(performance.now() - sentAtMs < 5_000);
  proxy.cut();
  proxy.heal();
  t.truthy(await store.renew(node.id, node.incarnation, 10_000));
  t.truthy(await direct.renew(node.id, node.incarnation, 10_000));
});

test('a renewal that is not answered soon is sent once more over the other connection', async (t) => {
  const { connection, store, client } = await setUp(t);
  const node = testNode(new SeededRandom(1));
  await store.register(node, 10_000);
  const proxy = await PostgresProxy.start(connection);
  const hedging = await openPostgresStore({ connection: proxy.connection });
  t.teardown(async () => {
    await hedging.close();
    await proxy.stop();
  });
  let renewals = 0;
  proxy.onStatement = ({ text }) => {
    renewals += Number(text.startsWith('UPDATE node SET expires_at'));
    return undefined;
  };
  await client.query('BEGIN');
  await client.query('SELECT id FROM node WHERE id = $1 FOR UPDATE', [node.id]);
  const renewed = hedging.renew(node.id, node.incarnation, 10_000);
  await whenWaiting(connection, 2);
  await client.query('ROLLBACK');
  t.truthy(await renewed);
  t.is(renewals, 2);
  t.truthy(await hedging.renew(node.id, node.incarnation, 10_000));
  t.is(renewals, 3);
});

test('a check for readiness uses no connection of the leases', async (t) => {
  const { connection, store, client } = await setUp(t, { sizes: { leases: 1 } });
  const node = testNode(new SeededRandom(1));
  await store.register(node, 10_000);
  await client.query('BEGIN');
  await client.query('SELECT id FROM node WHERE id = $1 FOR UPDATE', [node.id]);
  const renewed = store.renew(node.id, node.incarnation, 10_000);
  await whenWaiting(connection, 1);
  await t.notThrowsAsync(store.check());
  await client.query('ROLLBACK');
  t.truthy(await renewed);
});

test('the rows that several actors want read are one statement, whoever they are of', async (t) => {
  const { connection, store } = await setUp(t);
  const texts: string[] = [];
  const proxy = await PostgresProxy.start(connection);
  proxy.onStatement = ({ text }) => {
    texts.push(text);
    return undefined;
  };
  const watched = await openPostgresStore({ connection: proxy.connection });
  t.teardown(async () => {
    await watched.close();
    await proxy.stop();
  });
  for (const [index, owner] of [ada, bob].entries()) {
    const written = insert(noteTable, note(owner.id, uuid(70 + index), { position: index + 1 }));
    await assertPasses(store, [commitOn(await activate(store, owner), owner, index + 1, [written])], [0]);
  }
  texts.length = 0;
  const found = await watched.read(
    [ada, bob, ada].map((owner, index) => ({
      read: 'keys',
      table: noteTable,
      keys: [{ owner_uuid: owner.id, uuid: uuid(70 + (index % 2)) }],
    })),
  );
  t.deepEqual(
    found.map(({ rows }) => rows[0]?.['position']),
    [1, 2, 1],
  );
  t.is(texts.filter((text) => text.startsWith('SELECT') && text.includes('"note"')).length, 1);
});

test('connections that break while idle are reported and replaced', async (t) => {
  const broken: Error[] = [];
  const onConnectionError = (error: Error) => broken.push(error);
  const { store, client } = await setUp(t, { onConnectionError });
  await store.timeMs();
  const killed = await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  t.true(killed.rows.length > 0);
  // A connection may be lent out just before its end is noticed; each attempt uses up one of them.
  for (const _ of killed.rows) await store.verify().catch(() => undefined);
  await t.notThrowsAsync(store.verify());
  t.true(broken.every((error) => error instanceof Error));
});

test('a full queue and a late turn are unavailable, each before anything was sent', async (t) => {
  const sizes = { barriers: 1 };
  const { connection, store, client } = await setUp(t, { sizes, queueMax: 1, waitMaxMs: 2_000 });
  await activate(store, ada);
  await client.query('BEGIN');
  await client.query(lockRow(ada));
  const blocked = store.barrier(ada, 1);
  await whenWaiting(connection, 1);
  const late = assertFails(store.barrier(ada, 1), 'unavailable');
  await assertFails(store.barrier(ada, 1), 'unavailable');
  await late;
  await client.query('ROLLBACK');
  t.deepEqual(await blocked, { epoch: 1, version: 1, commitId: null });
  t.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: null });
});

test('many activations at once share statements, and each has its own answer and the state behind it', async (t) => {
  const counts = { together: 0, alone: 0, read: 0 };
  const sql = {
    ...storeSql,
    activate: (...args: Parameters<typeof storeSql.activate>) => {
      counts.alone += 1;
      return storeSql.activate(...args);
    },
    activateMany: (...args: Parameters<typeof storeSql.activateMany>) => {
      counts.together += 1;
      return storeSql.activateMany(...args);
    },
    slicesOfMany: (...args: Parameters<typeof storeSql.slicesOfMany>) => {
      counts.read += 1;
      return storeSql.slicesOfMany(...args);
    },
  };
  const { store, client, connection } = await setUp(t, { sql, sizes: { barriers: 2 } });
  const actors = Array.from({ length: 100 }, (_, index) => actor(index + 1));
  for (const [index, each] of actors.entries()) {
    const commit = commitOn(await activate(store, each), each, 1, [putSlice(each, 'profile', `${index}`)]);
    await assertPasses(store, [commit], [0]);
  }
  const [locked = ada, fenced = bob, busy] = actors;
  await store.activate(fenced, 0, 9, false);
  await client.query('BEGIN');
  await client.query(lockRow(locked));
  Object.assign(counts, { together: 0, alone: 0, read: 0 });

  const absent = actor(1_000);
  const addresses = [...actors.slice(2), fenced, absent, busy ?? ada, locked];
  const answers = addresses.map((each) => store.activate(each, 0, 2, false));
  await whenWaiting(connection, 1);
  const outcomes = (await Promise.all(answers.slice(0, -1))).map(({ outcome }) => outcome);
  t.deepEqual(outcomes, [...Array.from({ length: 98 }, () => 'active'), 'fenced', 'absent', 'active']);
  await client.query('ROLLBACK');
  t.like(await answers.at(-1), { outcome: 'active', row: { epoch: 2 } });
  t.true(counts.together >= 1 && counts.together <= 3, `${counts.together}`);
  t.true(counts.alone <= 8, `${counts.alone}`);

  const versions = await Promise.all(actors.slice(2).map(async (each) => (await store.head(each))?.version));
  const first = versions.shift();
  t.deepEqual(new Set(versions).size, 1);
  t.is(first, (versions[0] ?? 0) + 1, 'an actor that is asked for twice is activated twice');
  const states = await Promise.all(actors.map((each) => sliceTexts(store, each)));
  t.deepEqual(
    states,
    actors.map((_, index) => ({ profile: `${index}` })),
  );
  t.true(counts.read > 0);
  t.deepEqual(await Promise.all([absent, ada].map((each) => store.timers(each))), [[], []]);
});

test('leases are renewed while commits and barriers are stuck', async (t) => {
  const { connection, store, client } = await setUp(t, { sizes: { commits: 1, barriers: 1, leases: 1 } });
  const commit = commitOn(await activate(store, ada), ada, 1, []);
  const node = { id: 'a', incarnation: 'a1', address: 'local', roles: 'all', version: '1', formats: '1' };
  await store.register(node, 1_000);
  await client.query('BEGIN');
  await client.query(lockRow(ada));
  const stuck = [store.commit([commit]), store.barrier(ada, 1)];
  await whenWaiting(connection, 2);
  t.truthy(await store.renew('a', 'a1', 1_000));
  await client.query('ROLLBACK');
  await Promise.all(stuck);
});

test('a prepared statement that a schema change outdated is parsed anew', async (t) => {
  const { store, client } = await setUp(t, { sizes: { sweeps: 1 } });
  await store.fixedSetting('generation', 'one');
  t.is(await store.fixedSetting('generation', 'two'), 'one');
  await client.query('ALTER TABLE setting ALTER COLUMN value TYPE varchar(100)');
  t.is(await store.fixedSetting('generation', 'three'), 'one');
  t.is(await store.fixedSetting('generation', 'four'), 'one');
});

test('a database that cannot be reached, is read-only or not READ COMMITTED is not opened', async (t) => {
  const { connection, client } = await setUp(t);
  await assertFails(openPostgresStore({ connection: { ...connection, database: 'missing' } }), 'unavailable');
  const isolation = { text: `SELECT 'serializable' AS transaction_isolation`, values: [] };
  await assertFails(openPostgresStore({ connection, sql: { ...storeSql, isolation } }), 'unavailable');
  await client.query(`ALTER DATABASE ${connection.database} SET default_transaction_read_only = on`);
  await assertFails(openPostgresStore({ connection }), 'unavailable');
  t.pass();
});

test('closing twice is closing once, and whatever is asked afterwards is unavailable', async (t) => {
  const { store } = await setUp(t);
  await Promise.all([store.close(), store.close()]);
  await assertFails(store.timeMs(), 'unavailable');
  t.pass();
});

test('no part of a large value outlives it', async (t) => {
  const { store, client } = await setUp(t);
  const parts = async (): Promise<number> => {
    const { rows } = await client.query('SELECT part FROM note_part UNION ALL SELECT part FROM letter_part');
    return rows.length;
  };
  const large = 'x'.repeat(700_000);
  const letter = { owner_uuid: ada.id, name: 'x' };
  const born = commitOn(await activate(store, ada), ada, 1, [
    insert(noteTable, note(ada.id, uuid(50), { content: large })),
    insert(letterTable, { ...letter, body: large }),
  ]);
  await assertPasses(store, [born], [0]);
  t.is(await parts(), 10);
  const shrunk = commitAfter(born, 2, [
    put(noteTable, note(ada.id, uuid(50), { content: large.slice(1, 600_000) })),
    insert(letterTable, { ...letter, body: 'small' }),
  ]);
  await assertPasses(store, [shrunk], [0]);
  t.is(await parts(), 4);
  await assertPasses(
    store,
    [commitAfter(shrunk, 3, [remove(noteTable, { owner_uuid: ada.id, uuid: uuid(50) })])],
    [0],
  );
  t.is(await parts(), 0);
});

/** The plan that serves all executions of the statement. */
async function genericPlan(client: pg.Client, read: StoreRead): Promise<string> {
  const { text } = planRead(read).statement;
  const { rows } = await client.query<Record<string, string>>(`EXPLAIN (GENERIC_PLAN) ${text}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

const literal = (value: unknown): string =>
  pg.escapeLiteral(Array.isArray(value) ? `{${value.join()}}` : String(value));

test('a range of a subset goes by the index of that subset', async (t) => {
  const { store, client } = await setUp(t);
  const notes = Array.from({ length: 400 }, (_, index) =>
    insert(noteTable, note(ada.id, uuid(1_000 + index), { position: index, deleted: index % 10 !== 0 })),
  );
  await assertPasses(store, [commitOn(await activate(store, ada), ada, 1, notes)], [0]);
  await client.query('ANALYZE note');
  const range = {
    read: 'range',
    table: noteTable,
    owner: ada.id,
    after: 0,
    through: 400,
    limit: 10,
  } as const;
  const planOf = (subset?: string) => genericPlan(client, { ...range, subset, budgetBytes: 1_000 });
  t.regex(await planOf('live'), /note_by_live/);
  t.regex(await planOf(), /note_by_order/);
});

test('a statement is planned once, whatever its arrays hold', async (t) => {
  const { client } = await setUp(t);
  await prepareSession(client);
  const read = planRead({ read: 'keys', table: noteTable, keys: [{ owner_uuid: ada.id, uuid: uuid(1) }] });
  for (let n = 0; n < 10; n += 1)
    await client.query({ name: 'one', ...read.statement, values: [...read.statement.values] });
  const { rows } = await client.query('SELECT generic_plans, custom_plans FROM pg_prepared_statements');
  t.deepEqual(rows, [{ generic_plans: '10', custom_plans: '0' }]);
});

test('where rows have gone is found by the index of those that have moved, by a look-up and by a cross-owner read', async (t) => {
  const { client } = await setUp(t);
  // Every hundredth has gone from one owner to another.
  await client.query(`INSERT INTO parcel (owner_uuid, uuid, position, made, born, hop)
    SELECT '${ada.id}', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n, n, true, NULL
    FROM generate_series(1, 20000) AS n`);
  await client.query(`INSERT INTO parcel (owner_uuid, uuid, position, made, born, hop)
    SELECT '${bob.id}', uuid, position, made, NULL, 1 FROM parcel WHERE position % 100 = 0`);
  await client.query(
    `INSERT INTO member (owner_uuid, member_uuid, since) VALUES ('${ada.id}', '${uuid(7)}', 1)`,
  );
  await client.query('ANALYZE parcel');
  const planOf = (read: StoreRead) => genericPlan(client, read);
  const requested = [uuid(100), uuid(101)];
  const moved = { table: parcelTable, unique: ['uuid'], values: requested.map((each) => ({ uuid: each })) };
  const born = { table: parcelTable, unique: ['uuid', 'born'] };
  const located = await planOf({ read: 'lookup', ...moved, limit: 200, lastOfEach: 100 });
  t.regex(located, /Backward using parcel_unique_uuid_hop/);
  const values = requested.map((each) => ({ uuid: each, born: true }));
  const first = await planOf({ read: 'lookup', ...born, values, limit: 2 });
  t.regex(first, /parcel_unique_uuid_born/);
  const across = await planOf({
    read: 'crossOwner',
    table: parcelTable,
    membership: { table: memberTable, member: uuid(7) },
    owners: [{ owner: ada.id, after: 100 }],
    limit: 150,
  });
  t.regex(across, /parcel_by_order/);
  t.regex(across, /parcel_unique_uuid_hop/);
  for (const plan of [located, first, across]) t.notRegex(plan, /Seq Scan on parcel/);
});

test('a page of an owner with very many rows reads those of the page alone, whatever the database knows of the owner', async (t) => {
  const { client } = await setUp(t);
  await prepareSession(client);
  const fill = (owner: string, rows: number, from: number) =>
    client.query(`INSERT INTO parcel (owner_uuid, uuid, position, made, born, hop)
      SELECT ${owner}, gen_random_uuid(), n, n, true, NULL FROM generate_series(${from}, ${from + rows - 1}) AS n`);
  await fill(`'${ada.id}'`, 5_000, 1);
  await client.query(
    `INSERT INTO member (owner_uuid, member_uuid, since) VALUES ('${ada.id}', '${uuid(7)}', 1)`,
  );
  const page = { table: parcelTable, limit: 10 };
  const reads: readonly StoreRead[] = [
    { read: 'range', ...page, owner: ada.id, after: 100, through: 5_000 },
    {
      read: 'crossOwner',
      ...page,
      membership: { table: memberTable, member: uuid(7) },
      owners: [{ owner: ada.id, after: 100 }],
    },
  ];
  const rowsRead = async (read: StoreRead): Promise<number> => {
    const { text, values } = planRead(read).statement;
    await client.query(`DEALLOCATE ALL; PREPARE page AS ${text}`);
    const { rows } = await client.query<Record<string, string>>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE page (${values.map(literal).join(', ')})`,
    );
    const counts = rows.map((row) => /rows=(\d+)/.exec(row['QUERY PLAN'] ?? '')?.[1]);
    return Math.max(...counts.map((count) => Number(count ?? 0)));
  };
  for (const read of reads) t.is(await rowsRead(read), page.limit + 1, `${read.read}, nothing known`);
  // On average an owner has few rows, so the database expects few of this one.
  for (let owner = 0; owner < 300; owner += 1) await fill(`'${uuid(10_000 + owner)}'`, 20, 1);
  await client.query('ANALYZE parcel');
  for (const read of reads) t.is(await rowsRead(read), page.limit + 1, `${read.read}, average known`);
});

test('CockroachDB is asked for each shard and each owner by a branch of its own, and for no more shards than 64 at once', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))]);
  const sent: string[] = [];
  const proxy = await PostgresProxy.start(connection);
  proxy.onStatement = ({ text }) => {
    sent.push(text);
    return undefined;
  };
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(async () => {
    await client.end();
    await proxy.stop();
  });
  await client.query(
    `CREATE FUNCTION public.version() RETURNS text AS $$SELECT 'CockroachDB CCL v25.2.6'$$ LANGUAGE sql`,
  );
  await client.query(`INSERT INTO timer SELECT 'user', n::text, 'ring', n % 200, n, '', 0, false
    FROM generate_series(1, 400) AS n`);
  const options = '-c search_path=public,pg_catalog';
  const store = await openPostgresStore({ connection: { ...proxy.connection, options } });
  t.teardown(() => store.close());

  const branchesOf = async (ask: () => Promise<unknown>): Promise<readonly number[]> => {
    sent.length = 0;
    await ask();
    t.true(sent.every((text) => !text.includes('LATERAL')));
    return sent.map((text) => text.split(' UNION ALL ').length);
  };
  const shards = Array.from({ length: 130 }, (_, shard) => shard);
  const sweep = { shards, fromMs: 0, untilMs: 1_000, limit: 10, share: 2 };
  t.deepEqual(await branchesOf(() => store.dueTimers(sweep)), [64, 64, 2]);
  const due = await store.dueTimers(sweep);
  t.deepEqual(
    due.map(({ due_at }) => due_at),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  t.deepEqual(await branchesOf(() => store.pendingTells({ ...sweep, shards: [7] })), [1]);
  t.deepEqual(await branchesOf(() => store.pruneCalls(shards, 1_000, 10)), [64, 64, 2]);
  const owners = [1, 2, 3].map((number) => ({ owner: uuid(number), after: 0 }));
  const membership = { table: memberTable, member: uuid(7) };
  // Rounded up to a power of two.
  t.deepEqual(
    await branchesOf(() =>
      store.read([{ read: 'crossOwner', table: parcelTable, membership, owners, limit: 5 }]),
    ),
    [4],
  );
});

test('a query for the time does not queue with the leases', async (t) => {
  const { connection, store, client } = await setUp(t);
  const node = { id: 'n', incarnation: 'i', address: '', roles: 'all', version: '0', formats: '1' };
  await store.register(node, 10_000);
  await client.query('BEGIN');
  await client.query("SELECT id FROM node WHERE id = 'n' FOR UPDATE");
  const renewed = store.renew('n', 'i', 10_000);
  await whenWaiting(connection, 1);
  let isRenewed = false;
  void renewed.then(() => {
    isRenewed = true;
  });
  t.true((await store.timeMs()) > 0);
  t.false(isRenewed);
  await client.query('ROLLBACK');
  t.truthy(await renewed);
});
