/** What a backup holds comes back as it was, and what no backup needs any more goes. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { backupsIn } from '../../process/backup/format.ts';
import { backupTables } from '../../process/backup/tables.ts';
import { migrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { fullTarget, watchedTarget } from './failing.ts';
import { backUpTo, connected, contentOf, make, restoreFrom, treeOf, uuidOf } from './world.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

test('every table and every column is in a backup, but for what is true of processes alone', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  const { rows } = await connected(connection, (client) =>
    client.query<{ table: string; column: string }>(
      `SELECT table_name AS table, column_name AS column FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name NOT IN ('node', 'shard', 'migration', 'migration_lock')`,
    ),
  );
  const named = backupTables.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  );
  t.deepEqual(named.toSorted(), rows.map(({ table, column }) => `${table}.${column}`).toSorted());
});

async function comesBack(
  t: ExecutionContext,
  options: { recipients?: readonly string[]; identity?: string } = {},
) {
  const made = await make(t, server);
  await connected(made.connection, async (client) => {
    for (const key of ['a', 'b', 'c']) await made.files.add(client, key);
  });
  const { manifest, copiedBlobs } = await backUpTo(made, options);
  t.is(copiedBlobs, 6);
  t.deepEqual(manifest.blobs.missing, []);
  const connection = await server.createDatabase();
  const folder = join(temporaryFolder(t), 'files');
  await restoreFrom(made.target, connection, folder, options);
  t.deepEqual(await contentOf(connection), await contentOf(made.connection));
  t.deepEqual(treeOf(folder), treeOf(made.files.folder));
  await connected(connection, async (client) => {
    t.deepEqual(await settings(client), { generation: 'after', 'secret-key-fingerprint': 'f' });
    t.is((await client.query('SELECT DISTINCT value FROM counter')).rows[0].value, '1000007');
    const { rows } = await client.query(`SELECT id FROM migration WHERE id LIKE 'restoring%'`);
    t.deepEqual(rows, []);
  });
  return made;
}

async function settings(client: pg.Client): Promise<Readonly<Record<string, string>>> {
  const { rows } = await client.query(
    `SELECT name, value FROM setting WHERE name IN ('generation', 'secret-key-fingerprint')`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

test('all rows and all files come back, and positions of devices become invalid', async (t) => {
  await comesBack(t);
});

test('an encrypted backup comes back by its identity, and holds nothing in the clear', async (t) => {
  const identity = await generateIdentity();
  const recipients = [await identityToRecipient(identity)];
  const { folder } = await comesBack(t, { recipients, identity: `# a comment\n${identity}\n` });
  const names = Object.keys(treeOf(folder));
  t.true(names.length > 20);
  const isInTheClear = (name: string) => /manifest\.json$|objects-.$/.test(name);
  for (const name of names.filter((each) => !isInTheClear(each))) {
    t.is(readFileSync(join(folder, name)).subarray(0, 21).toString(), 'age-encryption.org/v1', name);
  }
  // The lists that are not encrypted hold hashes.
  for (const name of names.filter(isInTheClear)) {
    t.false(readFileSync(join(folder, name), 'utf8').includes(uuidOf('owner')), name);
  }
});

test('positions of devices can be kept when a database moves', async (t) => {
  const made = await make(t, server);
  await backUpTo(made);
  const connection = await server.createDatabase();
  await restoreFrom(made.target, connection, join(temporaryFolder(t), 'files'), { generation: undefined });
  const restored = await connected(connection, settings);
  t.is(restored['generation'], 'before');
});

test('files that an earlier backup has are not written again, unless it was encrypted to others', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, (client) => made.files.add(client, 'a'));
  t.is((await backUpTo(made)).copiedBlobs, 2);
  await connected(made.connection, (client) => made.files.add(client, 'b'));
  t.is((await backUpTo(made)).copiedBlobs, 2);
  t.is((await backUpTo(made)).copiedBlobs, 0);
  const recipients = [await identityToRecipient(await generateIdentity())];
  t.is((await backUpTo(made, { recipients })).copiedBlobs, 4);
});

test('files go with the last backup that names them', async (t) => {
  const made = await make(t, server);
  const [first = '', ...more] = await connected(made.connection, (client) => made.files.add(client, 'a'));
  await backUpTo(made, { keep: 2 });
  await connected(made.connection, (client) => made.files.remove(client, 'a', [first, ...more]));
  const blobs = () => Object.keys(treeOf(made.folder)).filter((name) => name.startsWith('blobs/'));
  await backUpTo(made, { keep: 2 });
  t.is(blobs().length, 2);
  await backUpTo(made, { keep: 2 });
  t.is(blobs().length, 0);
  t.is((await backupsIn(made.target)).whole.length, 2);
});

test('the oldest backup makes room before the next one needs it, and the last one stays', async (t) => {
  const made = await make(t, server);
  for (let count = 0; count < 3; count += 1) await backUpTo(made, { keep: 3 });
  const { whole: before } = await backupsIn(made.target);
  const full = { ...made, target: fullTarget(made.target) };
  for (let count = 0; count < 2; count += 1) {
    await t.throwsAsync(backUpTo(full, { keep: 3 }), { message: /is full/ });
    t.deepEqual((await backupsIn(made.target)).whole, before.slice(1));
  }
  await backUpTo(made, { keep: 1 });
  const { whole } = await backupsIn(made.target);
  await t.throwsAsync(backUpTo(full, { keep: 1 }), { message: /is full/ });
  t.deepEqual((await backupsIn(made.target)).whole, whole);
});

test('a file that its store has lost is named, and the rest is backed up', async (t) => {
  const made = await make(t, server);
  const [lost = ''] = await connected(made.connection, (client) => made.files.add(client, 'a'));
  rmSync(join(made.files.folder, lost));
  const { manifest } = await backUpTo(made);
  t.deepEqual(manifest.blobs.missing, [lost]);
  t.is(manifest.blobs.count, 1);
});

test('every file of a backup has its bytes, although files come and go meanwhile', async (t) => {
  const made = await make(t, server);
  const client = new pg.Client(made.connection);
  await client.connect();
  t.teardown(() => client.end());
  const there = new Map<string, readonly string[]>();
  let round = 0;
  // With each object that is written one file comes, and the one before the last goes.
  const target = watchedTarget(made.target, async () => {
    round += 1;
    if (round > 60) return;
    there.set(`${round}`, await made.files.add(client, `${round}`, 100));
    const gone = there.get(`${round - 2}`);
    if (gone !== undefined) await made.files.remove(client, `${round - 2}`, gone);
  });
  there.set('0', await made.files.add(client, '0', 100));
  const { manifest } = await backUpTo({ ...made, target });
  t.true(round > 60);
  t.deepEqual(manifest.blobs.missing, []);
  const connection = await server.createDatabase();
  const folder = join(temporaryFolder(t), 'files');
  await restoreFrom(made.target, connection, folder);
  const { rows } = await connected(connection, (restored) => restored.query('SELECT upload_uuid FROM file'));
  t.true(rows.length > 0);
  t.is(Object.keys(treeOf(folder)).length, 2 * rows.length);
});

test('one of two simultaneous backups of one database runs', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, async (client) => {
    await client.query('SELECT pg_advisory_lock(7221963418)');
    await t.throwsAsync(backUpTo(made), { message: /Another backup of this database is running/ });
  });
  await backUpTo(made);
});
