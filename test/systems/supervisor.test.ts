/** A supervisor's actions on a real database and a real NATS once its server is dead, and what it leaves alone. */

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { configurationFrom } from '../../process/config/config.ts';
import { openDataDirectory } from '../../process/data-directory.ts';
import { generationOf } from '../../process/database.ts';
import { LastRun } from '../../process/last-run.ts';
import { Lifetime } from '../../process/lifetime.ts';
import { StartError } from '../../process/start-error.ts';
import { releaseLeaseOfDeadServer } from '../../process/supervisor/supervise.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { systemRandom } from '../../runtime/random.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { databaseUrl, startTestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { startProcess } from '../kit/transport-process.ts';
import { until } from '../kit/until.ts';

const leaseMs = 60_000;
const secretKey = 'ab'.repeat(32);
const ports = { clock: systemClock, random: systemRandom, logger: pino({ level: 'silent' }) };

async function setup(t: ExecutionContext) {
  const [postgres, nats] = await Promise.all([startTestPostgres(), startNatsServer()]);
  t.teardown(() => Promise.all([postgres.stop(), nats.stop()]));
  const root = temporaryFolder(t);
  const connection = await postgres.createDatabase();
  await migrate(connection, runtimeMigrations);
  const store = await openPostgresStore({ connection, clock: systemClock });
  t.teardown(() => store.close());
  const read = configurationFrom({
    DATA_DIR: join(root, 'data'),
    NODE_ID: 'a',
    SECRET_KEY: secretKey,
    DATABASE_URL: databaseUrl(connection),
    NATS_URL: nats.url,
    NATS_ALLOW_INSECURE: 'true',
    FILES_FOLDER: join(root, 'files'),
    FILES_FOLDER_SHARED: 'true',
  });
  const { seen } = await startProcess(t, nats.url, {
    answer: () => null,
    clusterName: read.config.clusterName,
    databaseId: await generationOf(store, systemRandom),
    signingKey: createKeyring(Buffer.from(secretKey, 'hex')).derive('nats-seal'),
  });
  const register = (incarnation: string) =>
    store.register(
      { id: 'a', incarnation, address: 'here', roles: 'all', version: '1', formats: '1' },
      leaseMs,
      true,
    );
  /** A server that holds the directory as long as it lives. */
  const startServer = async (incarnation: string) => {
    const directory = await openDataDirectory(read.config.dataDirectory);
    const lastRun = await LastRun.open({ directory, nodeId: 'a', logger: silentLogger });
    await lastRun.remember(incarnation);
    await register(incarnation);
    return { die: () => directory.release() };
  };
  const supervise = async () => {
    const lifetime = new Lifetime({ ...ports, closeMaxMs: 10_000, exit: () => {} });
    try {
      await releaseLeaseOfDeadServer({ ...read, ...ports, lifetime });
    } finally {
      await lifetime.end(0);
    }
  };
  const registered = async () => (await store.nodes()).find(({ id }) => id === 'a')?.incarnation;
  return { startServer, supervise, registered, register, hints: seen.hints };
}

test.serial('the lease of a dead server is given up, and the others are told', async (t) => {
  const { startServer, supervise, registered, hints } = await setup(t);
  const server = await startServer('a1');
  await server.die();
  await supervise();
  t.is(await registered(), null);
  await until(() => hints.some(({ hint }) => hint === 'nodes'));
});

test.serial('while a server holds the directory nothing is given up', async (t) => {
  const { startServer, supervise, registered, hints } = await setup(t);
  const server = await startServer('a1');
  await t.throwsAsync(supervise(), { instanceOf: StartError });
  t.is(await registered(), 'a1');
  t.deepEqual(hints, []);
  await server.die();
});

test.serial(
  'a supervisor that is late, or acts twice, changes nothing for the next incarnation',
  async (t) => {
    const { startServer, supervise, registered, register } = await setup(t);
    const server = await startServer('a1');
    await server.die();
    await register('a2');
    await supervise();
    await supervise();
    t.is(await registered(), 'a2');
  },
);
