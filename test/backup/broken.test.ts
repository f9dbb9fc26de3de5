/** Backups and restores that die, and backups that are not what was written. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import test from 'ava';
import { BackupError } from '../../process/backup/error.ts';
import { openFolderTarget } from '../../process/backup/folder-target.ts';
import { backupsIn } from '../../process/backup/format.ts';
import { ensureSchema, migrations } from '../../process/schema.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { dyingTarget, watchedTarget } from './failing.ts';
import { backUpTo, connected, contentOf, make, restoreFrom, treeOf } from './world.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

test('a backup that dies at any call leaves none, and the next one is whole', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, (client) => made.files.add(client, 'a'));
  await backUpTo(made);
  const before = (await backupsIn(made.target)).whole;
  const names = await connected(made.connection, (client) => made.files.add(client, 'b'));
  let calls = 0;
  for (; ; calls += 7) {
    const died = await backUpTo({ ...made, target: dyingTarget(made.target, calls) }, { keep: 2 }).catch(
      () => 'died',
    );
    if (died !== 'died') break;
    t.deepEqual((await backupsIn(made.target)).whole, before);
  }
  t.true(calls > 40);
  const { whole, unfinished } = await backupsIn(made.target);
  t.is(whole.length, 2);
  t.deepEqual(unfinished, []);
  t.is(names.length, 2);
  const connection = await server.createDatabase();
  const folder = join(temporaryFolder(t), 'files');
  await restoreFrom(made.target, connection, folder);
  t.deepEqual(await contentOf(connection), await contentOf(made.connection));
  t.deepEqual(treeOf(folder), treeOf(made.files.folder));
});

test('a backup goes on with the files that one which died has copied', async (t) => {
  const made = await make(t, server);
  for (const key of ['a', 'b', 'c'])
    await connected(made.connection, (client) => made.files.add(client, key));
  await t.throwsAsync(backUpTo({ ...made, target: dyingTarget(made.target, 4) }));
  const copied = Object.keys(treeOf(made.folder)).filter((name) => name.startsWith('blobs/')).length;
  t.is(copied, 4);
  t.is((await backUpTo(made)).copiedBlobs, 2);
});

test('a backup whose lock is lost ends before it is one', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, async (client) => {
    const losing = watchedTarget(made.target, async () => {
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE locktype = 'advisory' AND datname = current_database()`,
      );
    });
    await t.throwsAsync(backUpTo({ ...made, target: losing }), { message: /lock of the backup is lost/ });
  });
  t.deepEqual((await backupsIn(made.target)).whole, []);
});

test('a restore that died is refused by servers, and begins anew', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, (client) => made.files.add(client, 'a'));
  await backUpTo(made);
  const connection = await server.createDatabase();
  const folder = join(temporaryFolder(t), 'files');
  const stages: string[] = [];
  await restoreFrom(made.target, await server.createDatabase(), join(temporaryFolder(t), 'files'), {
    onProgress: (stage) => stages.push(stage),
  });
  for (const death of stages.filter((_, index) => index % 6 === 1 || index === stages.length - 1)) {
    const onProgress = (stage: string) => {
      if (stage === death) throw new Error('died');
    };
    await t.throwsAsync(restoreFrom(made.target, connection, folder, { onProgress }), { message: 'died' });
    await t.throwsAsync(ensureSchema(connection, { migrateAtStart: true, logger: silentLogger }), {
      message: /A restore into this database has not ended/,
    });
  }
  await restoreFrom(made.target, connection, folder);
  t.deepEqual(await contentOf(connection), await contentOf(made.connection));
  await t.notThrowsAsync(ensureSchema(connection, { migrateAtStart: true, logger: silentLogger }));
});

const recordOfNewer = 'domain-9999-color';
const record = (connection: Parameters<typeof connected>[0], id: string) =>
  connected(connection, (client) => client.query('INSERT INTO migration (id) VALUES ($1)', [id]));

test('a release makes no backup of a schema that a newer one has added to, or of half a restore', async (t) => {
  const made = await make(t, server);
  for (const [id, message] of [
    [recordOfNewer, /newer release/],
    ['restoring-20261126T000000000Z-00000000', /restore into this database has not ended/],
  ] as const) {
    await record(made.connection, id);
    await t.throwsAsync(backUpTo(made), { instanceOf: BackupError, message });
    t.deepEqual(await backupsIn(made.target), { whole: [], unfinished: [] });
    await connected(made.connection, (client) => client.query('DELETE FROM migration WHERE id = $1', [id]));
  }
});

test('an upgrade while files are copied ends the backup of the former release', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, (client) => made.files.add(client, 'a'));
  let isUpgraded = false;
  const target = watchedTarget(made.target, async () => {
    if (isUpgraded) return;
    isUpgraded = true;
    await record(made.connection, recordOfNewer);
  });
  await t.throwsAsync(backUpTo({ ...made, target }), { instanceOf: BackupError, message: /newer release/ });
  t.true(isUpgraded);
  t.deepEqual((await backupsIn(made.target)).whole, []);
});

test('a release restores nothing into a schema that a newer one has added to', async (t) => {
  const made = await make(t, server);
  await backUpTo(made);
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  await record(connection, recordOfNewer);
  await t.throwsAsync(restoreFrom(made.target, connection, join(temporaryFolder(t), 'files')), {
    instanceOf: BackupError,
    message: /newer release/,
  });
});

test('a restore into a database with rows is refused, and changes nothing', async (t) => {
  const made = await make(t, server);
  await backUpTo(made);
  const before = await contentOf(made.connection);
  await t.throwsAsync(restoreFrom(made.target, made.connection, made.files.folder), {
    message: /The database is not empty: actor has rows/,
  });
  t.deepEqual(await contentOf(made.connection), before);
  await t.notThrowsAsync(ensureSchema(made.connection, { migrateAtStart: true, logger: silentLogger }));
});

test('one flipped bit of any object is noticed', async (t) => {
  const made = await make(t, server);
  await connected(made.connection, (client) => made.files.add(client, 'a'));
  await backUpTo(made);
  const connection = await server.createDatabase();
  const files = join(temporaryFolder(t), 'files');
  const objects = Object.keys(treeOf(made.folder)).filter((name) => !name.includes('objects-'));
  const chosen = objects.filter((name, index) => !name.includes('rows-') || index % 9 === 0);
  t.true(chosen.some((name) => name.includes('rows-')));
  for (const name of chosen) {
    const path = join(made.folder, name);
    const bytes = readFileSync(path);
    const flipped = Buffer.from(bytes);
    const at = Math.floor(bytes.length / 2);
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    writeFileSync(path, flipped);
    await t.throwsAsync(restoreFrom(made.target, connection, files), { message: /its hash differs/ }, name);
    rmSync(path);
    // Without its manifest it is no backup.
    const absent = name.endsWith('manifest.json') ? undefined : { message: /lacks/ };
    await t.throwsAsync(restoreFrom(made.target, connection, files), absent, name);
    writeFileSync(path, bytes);
  }
  await restoreFrom(made.target, connection, files);
  t.deepEqual(await contentOf(connection), await contentOf(made.connection));
});

test('a damaged backup of before stops no new one, and nothing that it may name goes', async (t) => {
  const made = await make(t, server);
  const names = await connected(made.connection, (client) => made.files.add(client, 'a'));
  const { manifest } = await backUpTo(made);
  await connected(made.connection, (client) => made.files.remove(client, 'a', names));
  writeFileSync(join(made.folder, 'backups', manifest.id, 'manifest.json'), 'x');
  await backUpTo(made, { keep: 2 });
  const blobs = () => Object.keys(treeOf(made.folder)).filter((name) => name.startsWith('blobs/'));
  t.is(blobs().length, 2);
  await backUpTo(made, { keep: 2 });
  t.is(blobs().length, 0);
});

test('without the identity, or with another one, an encrypted backup is refused before anything is written', async (t) => {
  const made = await make(t, server);
  const identity = await generateIdentity();
  await backUpTo(made, { recipients: [await identityToRecipient(identity)] });
  const connection = await server.createDatabase();
  const folder = join(temporaryFolder(t), 'files');
  await t.throwsAsync(restoreFrom(made.target, connection, folder), {
    message: /name the file of its age identity/,
  });
  await t.throwsAsync(restoreFrom(made.target, connection, folder, { identity: await generateIdentity() }), {
    message: /does not open this backup/,
  });
  await t.throwsAsync(restoreFrom(made.target, connection, folder, { identity: 'nonsense' }), {
    message: /no identity of age/,
  });
  const { rows } = await connected(connection, (client) =>
    client.query(`SELECT 1 FROM information_schema.tables WHERE table_schema = 'public'`),
  );
  t.is(rows.length, 0);
});

test('a target that is not there, or is no folder, is said by its name', async (t) => {
  const folder = temporaryFolder(t);
  await t.throwsAsync(openFolderTarget(join(folder, 'absent'), { create: false }), {
    message: /absent cannot be used: ENOENT/,
  });
  writeFileSync(join(folder, 'file'), '');
  await t.throwsAsync(openFolderTarget(join(folder, 'file'), { create: true }), {
    message: /file cannot be used/,
  });
});
