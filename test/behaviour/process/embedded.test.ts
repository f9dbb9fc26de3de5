/** The embedded PostgreSQL itself, started for real. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../process/postgres/embedded.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silentLogger } from '../../../runtime/ports.ts';
import { builtUrl } from '../../kit/built.ts';
import { isAlive } from '../../kit/server-process.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { until } from '../../kit/until.ts';

const password = 'a password';

function directoryOf(t: ExecutionContext, name = 'data'): string {
  const root = temporaryFolder(t);
  const directory = join(root, name);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

async function startIn(t: ExecutionContext, dataDirectory: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    dataDirectory,
    password,
    clock: systemClock,
    logger: silentLogger,
  });
  t.teardown(() => server.stop());
  return server;
}

async function query(server: EmbeddedPostgres, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const postmasterOf = (directory: string): number =>
  Number.parseInt(readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8'), 10);

/** A separate process that starts the database and reports when it is up. */
async function ownerOf(t: ExecutionContext, directory: string): Promise<ChildProcess> {
  const module = (source: string) => JSON.stringify(builtUrl(source));
  const script = `
    const { startEmbeddedPostgres } = await import(${module('process/postgres/embedded.ts')});
    const { systemClock } = await import(${module('runtime/clock.ts')});
    const { silentLogger: logger } = await import(${module('runtime/ports.ts')});
    process.stdin.resume();
    await startEmbeddedPostgres({ dataDirectory: process.argv[1], password: ${JSON.stringify(password)}, clock: systemClock, logger });
    console.log('up');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('it is durable, takes UTF-8, sorts by bytes, and keeps what was written over a restart', async (t) => {
  const directory = directoryOf(t);
  const first = await startIn(t, directory);
  const view = await query(
    first,
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync,
            pg_encoding_to_char(encoding) AS encoding, datcollate AS collate
       FROM pg_database WHERE datname = current_database()`,
  );
  t.deepEqual(view, [{ fsync: 'on', sync: 'on', encoding: 'UTF8', collate: 'C' }]);
  await query(first, 'CREATE TABLE kept AS SELECT 7 AS value');
  t.is(first.state(), 'running');
  await first.stop();
  t.is(first.state(), 'stopped');
  const second = await startIn(t, directory);
  t.deepEqual(await query(second, 'SELECT value FROM kept'), [{ value: 7 }]);
});

test('its directory is closed to others and its password is asked for', async (t) => {
  const directory = directoryOf(t);
  const server = await startIn(t, directory);
  t.is(statSync(join(directory, 'postgres')).mode & 0o777, 0o700);
  t.is(statSync(directory).mode & 0o007, 0);
  const stranger = new pg.Client({ ...server.connection, password: 'another' });
  const error = await t.throwsAsync(stranger.connect());
  t.regex(error.message, /password authentication failed/);
});

test('a directory too deep for a socket address is served on the loopback', async (t) => {
  const server = await startIn(t, directoryOf(t, 'd'.repeat(120)));
  t.is(server.connection.host, '127.0.0.1');
  t.deepEqual(await query(server, 'SELECT 1 AS one'), [{ one: 1 }]);
});

test('one that dies under us is seen and started again', async (t) => {
  const directory = directoryOf(t);
  const server = await startIn(t, directory);
  await query(server, 'CREATE TABLE kept AS SELECT 7 AS value');
  process.kill(postmasterOf(directory), 'SIGKILL');
  await until(() => server.state() === 'restarting');
  await until(() => server.state() === 'running');
  t.deepEqual(await query(server, 'SELECT value FROM kept'), [{ value: 7 }]);
});

test('one left behind by a killed owner is stopped before a new one starts', async (t) => {
  const directory = directoryOf(t);
  const owner = await ownerOf(t, directory);
  const leftover = postmasterOf(directory);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  t.true(isAlive(leftover));
  const server = await startIn(t, directory);
  t.false(isAlive(leftover));
  t.deepEqual(await query(server, 'SELECT 1 AS one'), [{ one: 1 }]);
});

test('a recorded process number that now belongs to another process of the same user does no harm', async (t) => {
  const directory = directoryOf(t);
  const owner = await ownerOf(t, directory);
  const leftover = postmasterOf(directory);
  owner.kill('SIGKILL');
  process.kill(leftover, 'SIGKILL');
  await until(() => !isAlive(leftover));
  const { uid, gid } = statSync(join(directory, 'postgres'));
  const stranger = spawn('sleep', ['300'], { uid, gid, cwd: '/' });
  t.teardown(() => stranger.kill('SIGKILL'));
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const pidFile = join(directory, 'postgres', name);
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)));
  }
  const server = await startIn(t, directory);
  t.deepEqual(await query(server, 'SELECT 1 AS one'), [{ one: 1 }]);
  t.is(stranger.exitCode ?? stranger.signalCode, null);
});
