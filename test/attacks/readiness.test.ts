/**
 * Anyone may ask whether the server is ready, as often as they like. That must burden neither the database nor the
 * lease.
 */
import test from 'ava';
import { healthRoutes } from '../../gateway/routes/health.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { startGateway } from '../kit/gateway.ts';
import { testNode } from '../kit/host.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { PostgresProxy } from '../kit/postgres-proxy.ts';
import { SeededRandom } from '../kit/random.ts';

const connections = 1_100;
const rounds = 5;

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

test('1,100 connections that ask for readiness without end cost a check a second, and every renewal goes through', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, runtimeMigrations);
  const proxy = await PostgresProxy.start(connection);
  const store = await openPostgresStore({ connection: proxy.connection });
  t.teardown(async () => {
    await store.close();
    await proxy.stop();
  });
  let checks = 0;
  proxy.onStatement = ({ text }) => {
    checks += Number(text.includes('transaction_read_only'));
    return undefined;
  };
  const readiness = createReadiness({ database: () => store.check().then(() => true) }, systemClock);
  const { url } = await startGateway(
    t,
    healthRoutes({ readiness, filesServerUrl: 'http://files.test', captchaUiUrl: null }),
  );
  const node = testNode(new SeededRandom(1));
  await store.register(node, 10_000);

  const beganMs = systemClock.monotonicMs();
  let asking = true;
  const pending = Array.from({ length: connections }, async () => {
    const statuses: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const response = await fetch(`${url}/healthcheck/readiness`);
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    return statuses;
  });
  const all = Promise.all(pending).finally(() => {
    asking = false;
  });
  while (asking) {
    t.truthy(await store.renew(node.id, node.incarnation, 10_000));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.deepEqual(new Set((await all).flat()), new Set([200]));
  const seconds = (systemClock.monotonicMs() - beganMs) / 1_000;
  t.true(checks >= 1 && checks <= seconds + 1, `${checks} checks in ${seconds} s`);
});
