/** The roles as processes: hosts with actors and gateways with clients are one server, over a real broker. */
import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import test from 'ava';
import { registerStranger } from '../../kit/account.ts';
import { build, dataDirectoryOf, launch, started } from '../../kit/built-server.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { Device } from '../../kit/device.ts';
import { freePorts } from '../../kit/free-ports.ts';
import { note } from '../../kit/items.ts';
import { startNatsServer, type TestNatsServer } from '../../kit/nats-server.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import { until } from '../../kit/until.ts';

let database: TestPostgres;
let nats: TestNatsServer;
test.before(build);
test.before(async () => {
  [database, nats] = await Promise.all([startTestPostgres(), startNatsServer()]);
});
test.after.always(() => Promise.all([database?.stop(), nats?.stop()]));

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

const connections = 30;
/** Each over a separate connection, which the system gives to one of the listeners. */
async function connectAnew(url: string): Promise<void> {
  for (let n = 0; n < connections; n += 1) await fetch(url, { headers: { connection: 'close' } });
}

test('a host and two gateways on one port are one server, and one gateway may go', async (t) => {
  const [port = 0] = await freePorts(1);
  const settings = {
    DATABASE_URL: databaseUrl(await database.createDatabase()),
    NATS_URL: nats.url,
    SECRET_KEY: '01'.repeat(32),
    SHARD_COUNT: '16',
    FILES_FOLDER: dataDirectoryOf(t),
    FILES_FOLDER_SHARED: 'true',
  };
  const host = launch(t, {
    directory: dataDirectoryOf(t),
    settings: { ...settings, ROLE: 'host', NODE_ID: 'host' },
  });
  await until(() => host.output().includes('Internal API'));
  t.regex(host.output(), /No client connects to this process: it is a host/);
  const gateway = (id: string) =>
    started(t, {
      directory: dataDirectoryOf(t),
      settings: { ...settings, ROLE: 'gateway', NODE_ID: id, PORT: `${port}` },
    });
  const [first, second] = await Promise.all([gateway('a'), gateway('b')]);
  t.is(first.url, second.url);
  const { url } = first;
  // Nobody can use a new cluster before its gateways are ready.
  await until(async () => (await fetch(`${url}/healthcheck/readiness`)).status === 200);

  const device = new Device({ url }, await registerStranger({ url }));
  const items = [1, 2, 3].map(() => note({ uuid: randomUUID() }));
  t.is((await device.sync({ items })).saved_items.length, 3);
  await connectAnew(`${url}/healthcheck`);
  for (const { metricsUrl } of [first, second]) {
    const metrics = await textOf(metricsUrl);
    t.regex(metrics, /^scriptorium_http_request_duration_seconds_count\{.*"\/healthcheck".*\} [1-9]/m);
    // Work that only hosts do raises no alarm here.
    t.regex(metrics, /^scriptorium_transport_connected 1$/m);
    t.regex(metrics, /^scriptorium_cluster_shards 16$/m);
    t.notRegex(metrics, /^(shards|scriptorium_lease_valid|scriptorium_transport_wake_stream_available) /m);
  }
  const hostMetrics = /probes: (\S+)/.exec(host.output())?.[1] ?? '';
  await until(async () => /^scriptorium_transport_wake_stream_available 1$/m.test(await textOf(hostMetrics)));
  t.regex(await textOf(hostMetrics), /^scriptorium_shards 16$/m);
  t.regex(await textOf(hostMetrics), /^scriptorium_cluster_shards 16$/m);

  first.child.kill('SIGTERM');
  t.is(await first.exitCode, 0);
  const retrieved = () => device.sync({ sync_token: null }).then((reply) => reply.retrieved_items.length);
  // The end of a connection to the stopped one may not be noticed yet.
  await until(async () => (await retrieved().catch(() => 0)) === 3);
  host.child.kill('SIGTERM');
  t.is(await host.exitCode, 0);
  // The other gateway answers, but nobody answers it.
  t.is(await textOf(`${url}/health`), 'OK');
  await until(async () => {
    const readiness = await fetch(`${url}/healthcheck/readiness`);
    return readiness.status === 503 && (await readiness.text()).includes('"host":"failed"');
  });
});

/** Longer than a test may take: a server that waited for it would not end in time. */
const longLeaseMs = 600_000;
const waiting = /waiting for the lease of the former process/;

test('a host that was killed serves anew at once on its data directory, and a copy of that has to wait', async (t) => {
  const directory = dataDirectoryOf(t);
  const settings = {
    DATABASE_URL: databaseUrl(await database.createDatabase()),
    NATS_URL: nats.url,
    SECRET_KEY: '01'.repeat(32),
    SHARD_COUNT: '16',
    LEASE_MS: `${longLeaseMs}`,
    FILES_FOLDER: dataDirectoryOf(t),
    FILES_FOLDER_SHARED: 'true',
    NODE_ID: 'notes-0',
  };
  const first = await started(t, { directory, settings });
  const device = new Device(first, await registerStranger(first));
  const saved = note({ uuid: randomUUID() });
  t.is((await device.sync({ items: [saved] })).saved_items.length, 1);
  first.child.kill('SIGKILL');
  await first.exitCode;

  const second = await started(t, { directory, settings });
  const again = new Device(second, device.account);
  t.is((await again.sync({ sync_token: null })).retrieved_items.length, 1);
  t.notRegex(second.output(), waiting);

  const copy = dataDirectoryOf(t);
  cpSync(directory, copy, {
    recursive: true,
    preserveTimestamps: true,
    filter: (name) => !name.endsWith('.sock'),
  });
  const impostor = launch(t, { directory: copy, settings });
  await until(() => waiting.test(impostor.output()));
  const item = note({ uuid: randomUUID() });
  t.is((await again.sync({ items: [item] })).saved_items.length, 1, 'the one that lives goes on');
});

test('NATS is reached with the certificates that are configured, and the admin port at its address', async (t) => {
  const authority = createAuthority();
  t.teardown(() => authority.remove());
  const [broker, node] = [authority.issue('127.0.0.1'), authority.issue('node.test')];
  const tls = `tls { cert_file: "${broker.cert}", key_file: "${broker.key}", ca_file: "${authority.ca}", verify: true }`;
  const secured = await startNatsServer({ config: tls });
  t.teardown(() => secured.stop());
  const { metricsUrl, child, exitCode } = await started(t, {
    directory: dataDirectoryOf(t),
    settings: {
      DATABASE_URL: databaseUrl(await database.createDatabase()),
      NATS_URL: secured.url.replace('nats:', 'tls:'),
      NATS_CA_FILE: authority.ca,
      NATS_CERT_FILE: node.cert,
      NATS_KEY_FILE: node.key,
      NODE_ID: 'one',
      ADMIN_HOST: '127.0.0.2',
      SECRET_KEY: '01'.repeat(32),
      SHARD_COUNT: '16',
      FILES_FOLDER: dataDirectoryOf(t),
      FILES_FOLDER_SHARED: 'true',
      PORT: '0',
    },
  });
  t.is(new URL(metricsUrl).hostname, '127.0.0.2');
  t.regex(await textOf(metricsUrl), /^scriptorium_transport_connected 1$/m);
  child.kill('SIGTERM');
  t.is(await exitCode, 0);
});
