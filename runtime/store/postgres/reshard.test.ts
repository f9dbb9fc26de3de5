import assert from 'node:assert/strict';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type DatabaseConnection, startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { PostgresProxy } from '../../../test/kit/postgres-proxy.ts';
import {
  activate,
  actor,
  assertPasses,
  commitAfter,
  commitOn,
  insert,
  put,
  putSlice,
  sweepOf,
} from '../../../test/store/actors.ts';
import { uuid } from '../../../test/store/tables.ts';
import { type Address, shardOf } from '../../address.ts';
import { type Commit, type NodeRow, type Store, StoreError, type Write } from '../store.ts';
import { callTable, outboxTable, timerTable } from '../tables.ts';
import { batchCommit } from './commit.ts';
import { migrate } from './migrate.ts';
import { runtimeMigrations } from './migrations.ts';
import { reshard, resharding, shardCountSetting } from './reshard.ts';
import { openPostgresStore } from './store.ts';

const actorCount = 17;
/** No divisor of the number of rows, so that the last batch is a short one. */
const batchRows = 10;

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const node: NodeRow = {
  id: 'a',
  incarnation: 'a1',
  address: 'local',
  roles: 'all',
  version: '1',
  formats: '1',
};

const timer = (of: Address, shardCount: number, name = 'wake') =>
  put(timerTable, {
    ...of,
    name,
    shard: shardOf(of, shardCount),
    due_at: 100,
    payload: Buffer.from('t'),
    attempts: 0,
    dead: false,
  });

function tell(id: number, to: Address, shardCount: number): Write {
  return insert(outboxTable, {
    target_kind: to.kind,
    target_id: to.id,
    tell_id: uuid(id),
    target_shard: shardOf(to, shardCount),
    name: 'greet',
    payload: Buffer.from('p'),
    sender_kind: 'user',
    sender_id: 'x',
    sender_version: 1,
    attempts: 0,
    retry_at: 100,
    dead: false,
  });
}

const call = (of: Address, shardCount: number) =>
  insert(callTable, {
    ...of,
    call_key: 'key',
    shard: shardOf(of, shardCount),
    reply: Buffer.from('r'),
    at: 10,
  });

interface Cluster {
  readonly connection: DatabaseConnection;
  readonly store: Store;
  readonly client: pg.Client;
  /** The last commit of each actor. */
  readonly commits: readonly Commit[];
}

/** A database that a cluster of 16 shards has used and left. */
async function setUp(t: ExecutionContext): Promise<Cluster> {
  const connection = await server.createDatabase();
  await migrate(connection, runtimeMigrations);
  const store = await openPostgresStore({ connection });
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(async () => {
    await store.close();
    await client.end();
  });
  await store.fixedSetting(shardCountSetting, '16');
  await store.register(node, 60_000, true);
  const { epoch } = await store.claim(
    'a',
    'a1',
    Array.from({ length: 16 }, (_, shard) => shard),
  );
  const commits: Commit[] = [];
  for (let number = 1; number <= actorCount; number += 1) {
    const address = actor(number);
    const writes = [
      putSlice(address, 'profile', `${number}`),
      timer(address, 16),
      tell(number, actor(number + 1), 16),
      call(address, 16),
    ];
    const commit = commitOn(await activate(store, address, epoch), address, number, writes);
    await assertPasses(store, [commit], [0]);
    commits.push(commit);
  }
  await store.leave('a', 'a1');
  return { connection, store, client, commits };
}

const tables = {
  actor: 'SELECT kind, id, shard FROM actor',
  timer: 'SELECT kind, id, shard FROM timer',
  outbox: 'SELECT target_kind AS kind, target_id AS id, target_shard AS shard FROM outbox',
  call: 'SELECT kind, id, shard FROM call',
};

async function assertSharded({ client, store }: Cluster, shardCount: number): Promise<void> {
  for (const [table, text] of Object.entries(tables)) {
    const { rows } = await client.query<Address & { shard: string }>(text);
    assert.ok(rows.length >= actorCount);
    const wrong = rows.filter((row) => Number(row.shard) !== shardOf(row, shardCount));
    assert.deepEqual(wrong, [], `${table} has rows of other shards`);
  }
  assert.deepEqual(await store.shards(), []);
  assert.equal(await store.fixedSetting(shardCountSetting, ''), String(shardCount));
  assert.equal(await store.fixedSetting(resharding.setting, ''), resharding.none);
}

/** All that is not about shards. */
async function contents(client: pg.Client): Promise<unknown> {
  const texts = [
    'SELECT kind, id, epoch, commit_id FROM actor ORDER BY kind, id',
    'SELECT kind, id, slice, data FROM slice ORDER BY kind, id',
    'SELECT kind, id, name, due_at, payload, attempts, dead FROM timer ORDER BY kind, id',
    'SELECT target_kind, target_id, tell_id, payload, sender_version, retry_at, dead FROM outbox ORDER BY tell_id',
    'SELECT kind, id, call_key, reply, at FROM call ORDER BY kind, id',
  ];
  const rows = [];
  for (const text of texts) rows.push((await client.query(text)).rows);
  return rows;
}

test('16 shards become 64 and 16 again, and every row is in the shard of its actor', async (t) => {
  const cluster = await setUp(t);
  const { connection, client } = cluster;
  const before = await contents(client);
  const progress: string[] = [];
  const onProgress = (table: string, rows: number) => progress.push(`${table} ${rows}`);
  t.deepEqual(await reshard({ connection, shardCount: 64, batchRows, onProgress }), {
    outcome: 'done',
    from: 16,
    rows: 4 * actorCount,
  });
  await assertSharded(cluster, 64);
  t.deepEqual(progress.slice(0, 3), ['actor 10', 'actor 17', 'timer 10']);
  t.deepEqual(await contents(client), before);
  await reshard({ connection, shardCount: 16, batchRows });
  await assertSharded(cluster, 16);
  t.deepEqual(await contents(client), before);
});

test('the cluster goes on where it was, with the new count and under greater epochs', async (t) => {
  const { connection, store, commits } = await setUp(t);
  await reshard({ connection, shardCount: 64 });
  await store.register({ ...node, incarnation: 'a2' }, 60_000, true);
  const shards = Array.from({ length: 64 }, (_, shard) => shard);
  const { epoch, shards: claimed } = await store.claim('a', 'a2', shards);
  t.is(claimed.length, 64);
  t.true(epoch > Number(commits[0]?.epoch));
  const due = await store.dueTimers(sweepOf(shards, 0, 1_000, 100));
  t.is(due.length, actorCount);
  const tells = await store.pendingTells(sweepOf([shardOf(actor(2), 64)], 0, 1_000, 100));
  t.true(tells.some(({ target_id }) => target_id === actor(2).id));
});

test('a crash at any statement is mended by asking for the same count again, and by nothing else', async (t) => {
  const cluster = await setUp(t);
  const { connection, store, client } = cluster;
  const before = await contents(client);
  const proxy = await PostgresProxy.start(connection);
  t.teardown(() => proxy.stop());
  const texts: string[] = [];
  proxy.onStatement = ({ text }) => void texts.push(text);
  const attempt = (shardCount: number) => reshard({ connection: proxy.connection, shardCount, batchRows });
  await attempt(64);
  t.true(texts.length > 20);
  const formerOwners = `INSERT INTO shard (shard, node, incarnation, epoch)
    SELECT n, 'a', 'gone', 1 FROM generate_series(0, 15) AS n ON CONFLICT (shard) DO NOTHING`;
  let [now, next] = [64, 16];
  for (let at = 0; at < texts.length; at += 1) {
    for (const isApplied of [false, true]) {
      let statements = 0;
      await client.query(formerOwners);
      proxy.onStatement = () => (statements++ === at ? { effect: 'reset', isApplied } : undefined);
      await t.throwsAsync(attempt(next), { instanceOf: StoreError });
      proxy.onStatement = () => undefined;
      const mark = await store.fixedSetting(resharding.setting, resharding.none);
      t.true([resharding.none, String(next)].includes(mark));
      if (mark !== resharding.none) {
        t.deepEqual(await attempt(256), { outcome: 'begun', shardCount: next });
        t.is((await attempt(next)).outcome, 'done');
      } else if ((await attempt(next)).outcome === 'unchanged') {
        t.true(isApplied && at === texts.length - 1);
      }
      await assertSharded(cluster, next);
      [now, next] = [next, now];
    }
  }
  t.deepEqual(await contents(client), before);
});

test('while a node has a lease nothing is changed and nothing is marked', async (t) => {
  const cluster = await setUp(t);
  await cluster.store.register({ ...node, incarnation: 'a2' }, 60_000, true);
  const ended = await reshard({ connection: cluster.connection, shardCount: 64 });
  t.like(ended, { outcome: 'live', node: 'a' });
  t.truthy(await cluster.store.renew('a', 'a2', 60_000));
  await cluster.store.leave('a', 'a2');
  t.is(await cluster.store.fixedSetting(resharding.setting, ''), resharding.none);
  t.is((await cluster.store.shards()).length, 16);
  t.is((await reshard({ connection: cluster.connection, shardCount: 64 })).outcome, 'done');
});

test('a node whose lease has lapsed is dead from then on, should it come back', async (t) => {
  const cluster = await setUp(t);
  await cluster.store.register({ ...node, incarnation: 'a2' }, -1, true);
  t.is((await reshard({ connection: cluster.connection, shardCount: 64 })).outcome, 'done');
  t.falsy(await cluster.store.renew('a', 'a2', 60_000));
});

test('a late write of a dead node is seen or never applies', async (t) => {
  const cluster = await setUp(t);
  const { connection, client, store, commits } = cluster;
  const [last, other] = commits.slice(-2);
  assert.ok(last !== undefined && other !== undefined);
  const inFlight = commitAfter(last, 900, [timer(last.address, 16, 'late'), tell(901, other.address, 16)]);
  const { first } = batchCommit([inFlight]);
  await client.query('BEGIN');
  await client.query(first.text, [...first.values]);
  const ended = reshard({ connection, shardCount: 64 });
  const observer = new pg.Client(connection);
  await observer.connect();
  const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  for (let isWaiting = false; !isWaiting; ) isWaiting = (await observer.query(waiting)).rows.length > 0;
  await observer.end();
  await client.query('COMMIT');
  t.is((await ended).outcome, 'done');
  t.is((await store.timers(last.address)).length, 2);
  await assertSharded(cluster, 64);

  await assertPasses(store, [commitAfter(other, 902, [timer(other.address, 16, 'late')])], []);
  await assertPasses(store, [commitAfter(inFlight, 903, [timer(last.address, 16, 'later')])], []);
  await assertSharded(cluster, 64);
});

test('one of two simultaneous reshards does the work, and the one that loses the lock stops', async (t) => {
  const { connection } = await setUp(t);
  const ended = await Promise.all([64, 64].map((shardCount) => reshard({ connection, shardCount })));
  t.deepEqual(ended.map(({ outcome }) => outcome).sort(), ['done', 'unchanged']);

  const proxy = await PostgresProxy.start(connection);
  t.teardown(() => proxy.stop());
  let lock = 0;
  const texts: string[] = [];
  proxy.onStatement = ({ text, connection }) => {
    texts.push(text);
    if (text.includes('FOR UPDATE')) lock = connection;
    if (text.startsWith('UPDATE "timer"')) proxy.break(lock);
    return undefined;
  };
  const lost = await t.throwsAsync(reshard({ connection: proxy.connection, shardCount: 16, batchRows: 5 }), {
    instanceOf: StoreError,
  });
  t.is((lost as StoreError).failure, 'unavailable');
  t.false(texts.some((text) => text.includes('outbox')));
});

test('a database without a cluster, or with that count already, is left alone', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, runtimeMigrations);
  t.deepEqual(await reshard({ connection, shardCount: 64 }), { outcome: 'unused' });
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  await store.fixedSetting(shardCountSetting, '64');
  t.deepEqual(await reshard({ connection, shardCount: 64 }), { outcome: 'unchanged' });
});
