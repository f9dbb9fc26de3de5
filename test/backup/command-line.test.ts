/** The commands as an operator types them, on a real server with its own PostgreSQL. */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openFolderTarget } from '../../process/backup/folder-target.ts';
import { backupsIn, readManifest } from '../../process/backup/format.ts';
import { freePorts } from '../kit/free-ports.ts';
import { databaseUrl, startTestPostgres } from '../kit/postgres.ts';
import { s3Credentials, s3Region, startS3Server } from '../kit/s3-server.ts';
import { endLeftovers } from '../kit/server-process.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { ranSource, type Settings, scriptorium } from './scriptorium.ts';

const limitMs = 400_000;

async function registered(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      api: '20200115',
      email: 'ada@example.org',
      password: 'a server password',
      pw_nonce: '0',
      version: '004',
    }),
  });
  const body = (await answer.json()) as { data: { session: { access_token: string } } };
  return body.data.session.access_token;
}

// biome-ignore lint/suspicious/noExplicitAny: what is answered is looked at as a client would
async function synced(url: string, token: string, body: object = {}): Promise<any> {
  const answer = await fetch(`${url}/v1/items`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ api: '20240226', ...body }),
  });
  return ((await answer.json()) as { data: unknown }).data;
}

/** A server with an account that has notes of all sizes. Resolves to its token and a sync token. */
async function filled(server: RunningServer) {
  const token = await registered(server.url);
  const items = Array.from({ length: 320 }, (_, index) => ({
    uuid: crypto.randomUUID(),
    content_type: 'Note',
    // One is kept in parts.
    content: `004:${'x'.repeat(index === 7 ? 1_500_000 : 20 * index)}`,
    enc_item_key: '004:key',
    updated_at_timestamp: 0,
  }));
  const { sync_token: syncToken } = await synced(server.url, token, { items });
  return { token, syncToken, count: items.length };
}

/** Puts everything but the secret key aside. */
function loseAll(dataDirectory: string): void {
  endLeftovers(dataDirectory);
  const aside = `${dataDirectory}-aside`;
  renameSync(dataDirectory, aside);
  mkdirSync(dataDirectory, { mode: 0o700 });
  cpSync(join(aside, 'secret-key'), join(dataDirectory, 'secret-key'));
  rmSync(aside, { recursive: true });
}

async function prepared(t: ExecutionContext) {
  t.timeout(limitMs);
  const [port] = await freePorts(1);
  const server = await startServer({ PORT: String(port) });
  t.teardown(() => server.stop());
  return {
    server,
    settings: { DATA_DIR: server.dataDirectory, BACKUP_TARGET: join(temporaryFolder(t), 'backups') },
  };
}

test('a server that runs is backed up, lost, restored and goes on', async (t) => {
  const { server, settings } = await prepared(t);
  const { token, syncToken, count } = await filled(server);
  const made = await scriptorium(settings, ['backup', '--json']);
  t.is(made.code, 0, made.err);
  t.like(JSON.parse(made.out), { isEncrypted: false, blobs: 0, missing: [] });
  const verified = await scriptorium(settings, ['backup', 'verify']);
  t.is(verified.code, 0, verified.err);
  t.regex(
    verified.out,
    new RegExp(`^1 account signed in and synced ${count} items, the same as in the backup\\.$`, 'm'),
  );
  const held = await scriptorium(settings, ['restore']);
  t.is(held.code, 1);
  t.regex(held.err, /Another server is running on the data directory/);
  await server.crash(async () => {
    loseAll(server.dataDirectory);
    const restored = await scriptorium(settings, ['restore']);
    t.is(restored.code, 0, restored.err);
    t.regex(restored.out, /^The secret key here is that of the backup\.$/m);
    const again = await scriptorium(settings, ['restore']);
    t.is(again.code, 1);
    t.regex(again.err, /The database is not empty/);
  });
  let cursor: unknown;
  let found = 0;
  do {
    const page = await synced(server.url, token, { sync_token: syncToken, cursor_token: cursor });
    found += page.retrieved_items.length;
    cursor = page.cursor_token;
  } while (cursor !== undefined && cursor !== null);
  t.is(found, count, 'a device that had everything reads everything again');
});

test('kill -9 at any stage of a backup or a restore loses nothing', async (t) => {
  const { server, settings } = await prepared(t);
  await filled(server);
  for (const stage of ['Making room', 'Files', 'Table slice', 'Table item ', 'Table shared_vault_invite']) {
    t.is((await scriptorium(settings, ['backup'], stage)).code, null, stage);
    t.regex((await scriptorium(settings, ['backup', 'list'])).out, /There is no backup/);
  }
  t.is((await scriptorium(settings, ['backup'])).code, 0);
  await server.crash(async () => {
    loseAll(server.dataDirectory);
    for (const stage of ['Schema', 'Files', 'Table slice', 'Table item ', 'Comparing']) {
      t.is((await scriptorium(settings, ['restore'], stage)).code, null, stage);
    }
    const restored = await scriptorium(settings, ['restore']);
    t.is(restored.code, 0, restored.err);
  });
  const verified = await scriptorium(settings, ['backup']);
  t.is(verified.code, 0, verified.err);
  t.is(readdirSync(join(settings.BACKUP_TARGET, 'backups')).length, 2);
});

test('a server with a schedule is backed up to a bucket, and verified from there', async (t) => {
  t.timeout(limitMs);
  const s3 = await startS3Server(t);
  await s3.bucket('backups');
  const target = {
    BACKUP_TARGET: 's3://backups/notes',
    BACKUP_S3_ENDPOINT: s3.endpoint,
    BACKUP_S3_REGION: s3Region,
    BACKUP_S3_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
  };
  const server = await startServer({ ...target, BACKUP_SCHEDULE: '03:15' });
  t.teardown(() => server.stop());
  await filled(server);
  const settings = { ...target, DATA_DIR: server.dataDirectory };
  t.is((await scriptorium(settings, ['backup', '--keep', '1'])).code, 0);
  t.is((await scriptorium(settings, ['backup', '--keep', '1'])).code, 0);
  const { out } = await scriptorium(settings, ['backup', 'list', '--json']);
  t.is(JSON.parse(out).backups.length, 1);
  const verified = await scriptorium(settings, ['backup', 'verify']);
  t.is(verified.code, 0, verified.err);
});

/** Digests of all tables but those that a restore changes on purpose, in the newest backup of this folder. */
async function newestOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const target = await openFolderTarget(folder, { create: false });
  const { whole } = await backupsIn(target);
  const { tables } = await readManifest(target, whole.at(-1) ?? '');
  const kept = tables.filter(({ name }) => name !== 'setting' && name !== 'counter' && name !== 'migration');
  return Object.fromEntries(kept.map(({ name, rows, digest }) => [name, `${rows} ${digest}`]));
}

test.serial(
  'a backup of the embedded PostgreSQL comes back on another one, and from there on an embedded one',
  async (t) => {
    const { server, settings } = await prepared(t);
    await filled(server);
    const external = await startTestPostgres();
    t.teardown(() => external.stop());
    const DATABASE_URL = databaseUrl(await external.createDatabase());
    const folder = temporaryFolder(t);
    const first = settings;
    const there = { DATA_DIR: join(folder, 'there'), DATABASE_URL, BACKUP_TARGET: first.BACKUP_TARGET };
    const back = { DATA_DIR: join(folder, 'back'), BACKUP_TARGET: join(folder, 'second') };
    const done = async (environment: Settings, ...args: readonly string[]) => {
      const { code, err } = await scriptorium(environment, args);
      t.is(code, 0, `${args.join(' ')}: ${err}`);
    };
    await done(first, 'backup');
    await done(there, 'restore');
    await done({ ...there, BACKUP_TARGET: back.BACKUP_TARGET }, 'backup');
    t.deepEqual(await newestOf(back.BACKUP_TARGET), await newestOf(first.BACKUP_TARGET));
    await done(back, 'restore');
    await done({ ...back, BACKUP_TARGET: join(folder, 'third') }, 'backup');
    t.deepEqual(await newestOf(join(folder, 'third')), await newestOf(first.BACKUP_TARGET));
  },
);

test.serial(
  'the child of the schedule backs up beside the server that runs, and says why it cannot',
  async (t) => {
    const { server, settings } = await prepared(t);
    await filled(server);
    const ran = async (environment: Settings) =>
      JSON.parse((await ranSource(environment, ['test/backup/scheduled.ts'])).out);
    const done = await ran(settings);
    t.is(done.code, 0, done.said);
    t.regex((await scriptorium(settings, ['backup', 'list'])).out, /\d{8}T\d{9}Z-/);
    const file = join(temporaryFolder(t), 'no-folder');
    writeFileSync(file, '');
    const failed = await ran({ ...settings, BACKUP_TARGET: file });
    t.is(failed.code, 69, failed.said);
    t.regex(failed.said, /no-folder cannot be used/);
  },
);

test('a wrong place, a wrong key and no place are said so', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  const none = await scriptorium({ DATA_DIR }, ['backup']);
  t.is(none.code, 1);
  t.regex(none.err, /set BACKUP_TARGET/);
  const empty = await scriptorium({ DATA_DIR }, ['backup', join(DATA_DIR, 'target')]);
  t.is(empty.code, 1);
  t.regex(empty.err, /There is no database in/);
  const unnamed = await scriptorium({ DATA_DIR }, ['backup', 's3://x']);
  t.regex(unnamed.err, /is not s3:\/\/bucket/);
  const keyless = await scriptorium({ DATA_DIR }, ['backup', 's3://backups']);
  t.regex(keyless.err, /A bucket needs BACKUP_S3_ACCESS_KEY_ID/);
  const stranger = await scriptorium({ DATA_DIR }, ['backup', join(DATA_DIR, 't'), '--recipient', 'age1x']);
  t.regex(stranger.err, /age1x is not a recipient of age/);
  t.regex((await scriptorium({ DATA_DIR }, ['--version'])).out, /^\d+\.\d+\.\d+/);
});
