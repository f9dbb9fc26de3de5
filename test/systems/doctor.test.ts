/** The doctor beside a real database and a real NATS: well, and with what an operator may have set wrong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { configurationFrom } from '../../process/config/config.ts';
import { diagnoseDatabase } from '../../process/doctor/database.ts';
import { examine } from '../../process/doctor/doctor.ts';
import { applyMigrations } from '../../process/schema.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../kit/postgres.ts';

async function environmentOf(t: ExecutionContext, postgres: TestPostgres, jetStream = true) {
  const nats = await startNatsServer({ jetStream });
  const root = mkdtempSync(join(tmpdir(), 'doctor-'));
  t.teardown(async () => {
    await Promise.all([postgres.stop(), nats.stop()]);
    rmSync(root, { recursive: true, force: true });
  });
  const connection = await postgres.createDatabase();
  const environment = {
    DATA_DIR: join(root, 'data'),
    NODE_ID: 'a',
    SECRET_KEY: 'ab'.repeat(32),
    DATABASE_URL: databaseUrl(connection),
    NATS_URL: nats.url,
    NATS_ALLOW_INSECURE: 'true',
    FILES_FOLDER: join(root, 'files'),
    FILES_FOLDER_SHARED: 'true',
  };
  return { connection, environment, nats };
}

const findingsOf = async (environment: Readonly<Record<string, string>>) =>
  new Map((await examine(() => configurationFrom(environment))).map((finding) => [finding.check, finding]));

test('around a server that is well, the doctor finds no problem', async (t) => {
  const { connection, environment, nats } = await environmentOf(t, await startTestPostgres({}));
  await applyMigrations(connection);
  const findings = await findingsOf(environment);
  for (const check of [
    'database',
    'clock',
    'database durability',
    'database schema',
    `NATS 127.0.0.1:${nats.port}`,
  ])
    t.is(findings.get(check)?.state, 'ok', check);
  t.deepEqual(
    [...findings.values()].filter(({ state }) => state === 'problem'),
    [],
  );
});

test('a database that may lose what it acknowledged is a problem, and an old schema a warning', async (t) => {
  const { environment, nats } = await environmentOf(t, await startTestPostgres(), false);
  const findings = await findingsOf(environment);
  t.regex(
    findings.get('database durability')?.found ?? '',
    /fsync and full_page_writes and synchronous_commit are off/,
  );
  t.is(findings.get('database durability')?.state, 'problem');
  t.regex(findings.get('database schema')?.remedy ?? '', /scriptorium migrate apply/);
  t.regex(findings.get(`NATS 127.0.0.1:${nats.port}`)?.found ?? '', /without JetStream/);
});

test('a database and a NATS that nobody answers for are problems, without their passwords', async (t) => {
  const findings = await examine(() =>
    configurationFrom({
      NODE_ID: 'a',
      SECRET_KEY: 'ab'.repeat(32),
      DATABASE_URL: 'postgresql://me:private-word@127.0.0.1:1/notes',
      NATS_URL: 'nats://me:private-word@127.0.0.1:1',
      FILES_FOLDER: tmpdir(),
      FILES_FOLDER_SHARED: 'true',
    }),
  );
  const problems = findings.filter(({ state }) => state === 'problem').map(({ check }) => check);
  t.deepEqual(problems, ['database', 'NATS']);
  t.false(JSON.stringify(findings).includes('private-word'));
});

test('a clock that is wrong is a problem before the server refuses to serve', async (t) => {
  const postgres = await startTestPostgres();
  t.teardown(() => postgres.stop());
  const connectionString = databaseUrl(await postgres.createDatabase());
  const clockOf = async (aheadMs: number) => {
    const expected = { connectionString, connections: 20, clockSkewMaxMs: 10_000 };
    const findings = await diagnoseDatabase({ ...expected, nowMs: () => Date.now() + aheadMs });
    return findings.find(({ check }) => check === 'clock')?.state;
  };
  t.deepEqual(
    [await clockOf(0), await clockOf(5_000), await clockOf(-3_600_000)],
    ['ok', 'warning', 'problem'],
  );
});

test('the schema of a newer release is a problem, and few connections are a warning', async (t) => {
  const postgres = await startTestPostgres();
  t.teardown(() => postgres.stop());
  const connection = await postgres.createDatabase();
  await applyMigrations(connection);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("INSERT INTO migration (id) VALUES ('9999-of-tomorrow')");
  await client.end();
  const findings = await diagnoseDatabase({
    connectionString: databaseUrl(connection),
    connections: 100_000,
    clockSkewMaxMs: 10_000,
    nowMs: () => Date.now(),
  });
  const findingOf = (name: string) => findings.find(({ check }) => check === name);
  t.is(findingOf('database schema')?.state, 'problem');
  t.regex(findingOf('database schema')?.found ?? '', /newer release \(it has 9999-of-tomorrow\)/);
  t.is(findingOf('database connections')?.state, 'warning');
  t.regex(findingOf('database connections')?.remedy ?? '', /max_connections/);
});

test('a NATS that refuses messages of the size that is needed is a problem', async (t) => {
  const nats = await startNatsServer({ config: 'max_payload: 1024' });
  t.teardown(() => nats.stop());
  const environment = {
    NODE_ID: 'a',
    SECRET_KEY: 'ab'.repeat(32),
    DATABASE_URL: 'postgresql://me@127.0.0.1:1/notes',
    NATS_URL: nats.url,
    NATS_ALLOW_INSECURE: 'true',
    FILES_FOLDER: tmpdir(),
    FILES_FOLDER_SHARED: 'true',
  };
  const finding = (await findingsOf(environment)).get('NATS');
  t.is(finding?.state, 'problem');
  t.regex(finding?.found ?? '', /accepts messages of 1024 bytes, and \d+ are needed/);
  t.regex(finding?.remedy ?? '', /max_payload/);
});

test('wrong settings are the only finding', async (t) => {
  const findings = await examine(() => configurationFrom({ PORT: 'many' }));
  t.is(findings.length, 1);
  t.regex(findings[0]?.found ?? '', /PORT/);
});
