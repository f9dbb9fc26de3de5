/** Schema changes by an operator: built programs, a real database, their messages. */
import test from 'ava';
import pg from 'pg';
import { migrations } from '../../../process/schema.ts';
import { serverExitCodes } from '../../../process/start-error.ts';
import { migrate } from '../../../runtime/store/postgres/migrate.ts';
import { build, commandLine, dataDirectoryOf, launch, started } from '../../kit/built-server.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import type { ServerProcess } from '../../kit/server-process.ts';

let database: TestPostgres;
test.before(build);
test.before(async () => {
  database = await startTestPostgres();
});
test.after.always(() => database?.stop());

const upToDate = 'The database has the schema of this release.\n';

test('a server that may not migrate starts once its operator has', async (t) => {
  const url = databaseUrl(await database.createDatabase());
  const directory = dataDirectoryOf(t);
  const settings = { DATABASE_URL: url, MIGRATE_AT_START: 'false' };
  const early = launch(t, { directory, settings });
  t.is(await early.exitCode, serverExitCodes.config);
  t.regex(early.output(), /behind this release .* run `scriptorium migrate apply` first\./);

  const plan = await commandLine(url, 'migrate', 'plan');
  t.is(plan.code, 0, plan.err);
  t.deepEqual(
    plan.out.match(/^-- .*$/gm),
    migrations.map(({ id }) => `-- ${id}`),
  );
  const applied = await commandLine(url, 'migrate', 'apply');
  t.deepEqual(applied, { code: 0, out: upToDate, err: migrations.map(({ id }) => `${id}\n`).join('') });
  t.deepEqual(await commandLine(url, 'migrate', 'plan'), { code: 0, out: upToDate, err: '' });
  const server = await started(t, { directory, settings });
  t.is((await fetch(`${server.url}/healthcheck/readiness`)).status, 200);
});

test('a database from which a newer release dropped something is refused by server and command line', async (t) => {
  const connection = await database.createDatabase();
  const url = databaseUrl(connection);
  t.is((await commandLine(url, 'migrate', 'apply')).code, 0);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("INSERT INTO migration (id) VALUES ('domain-9999-drop-color')");
  await client.end();
  const newer = /newer release \(it has domain-9999-drop-color\): run that release or a later one\./;
  const server = launch(t, { directory: dataDirectoryOf(t), settings: { DATABASE_URL: url } });
  t.is(await server.exitCode, serverExitCodes.config);
  t.regex(server.output(), newer);
  for (const command of ['plan', 'apply']) {
    const { code, out, err } = await commandLine(url, 'migrate', command);
    t.deepEqual([code, out], [1, '']);
    t.regex(err, newer);
  }
});

test('a server starts on a database to which a newer release has added, so that an upgrade can be taken back', async (t) => {
  const connection = await database.createDatabase();
  const settings = { DATABASE_URL: databaseUrl(connection) };
  const directory = dataDirectoryOf(t);
  await stop(await started(t, { directory, settings }));
  await migrate(connection, [
    ...migrations,
    { id: 'domain-9999-color', sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS color text' },
  ]);
  for (const MIGRATE_AT_START of ['true', 'false']) {
    const server = await started(t, { directory, settings: { ...settings, MIGRATE_AT_START } });
    t.is((await fetch(`${server.url}/healthcheck/readiness`)).status, 200);
    await stop(server);
  }
});

async function stop({ child, exitCode }: ServerProcess): Promise<void> {
  child.kill('SIGTERM');
  await exitCode;
}
