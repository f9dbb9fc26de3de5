/** The server as `npm start` runs it: a separate process, started, stopped, killed and started again. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { chooseAccount } from '../../../process/postgres/account.ts';
import { serverExitCodes } from '../../../process/start-error.ts';
import { build, buildDirectory, dataDirectoryOf, launch, started } from '../../kit/built-server.ts';
import { endLeftovers, isAlive, postmasterOf as postmasterIn } from '../../kit/server-process.ts';
import { until } from '../../kit/until.ts';

test.before(build);

const postmasterOf = (directory: string): number => postmasterIn(directory) ?? 0;

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

test.serial(
  'it starts on an empty directory, tells its address, and a SIGTERM ends it in order',
  async (t) => {
    const directory = dataDirectoryOf(t);
    const server = await started(t, { directory });
    t.is(await statusOf(`${server.url}/healthcheck`), 200);
    t.is(await statusOf(`${server.url}/healthcheck/readiness`), 200);
    t.is(await statusOf(`${server.url}/?shared=any`), 200);
    const postmaster = postmasterOf(directory);
    server.child.kill('SIGTERM');
    t.is(await server.exitCode, 0);
    t.false(isAlive(postmaster));
  },
);

test.serial('for its metrics it looks at the event loop twenty times a second, no more', async (t) => {
  const server = await started(t, { directory: dataDirectoryOf(t) });
  // The time from one look at the loop to the next. It is next to nothing before the second look after a scrape, which
  // begins it anew.
  let median = 0;
  await until(async () => {
    await pause(200);
    const metrics = await (await fetch(server.metricsUrl)).text();
    median = Number(/^nodejs_eventloop_lag_p50_seconds (\S+)$/m.exec(metrics)?.[1]);
    return median > 0.001;
  });
  t.true(median > 0.04, String(median));
});

test.serial('files of the server are closed to other users', async (t) => {
  const directory = dataDirectoryOf(t);
  await started(t, { directory });
  t.is(statSync(directory).mode & 0o007, 0);
  const secrets = readdirSync(directory).filter((name) => statSync(join(directory, name)).isFile());
  const known = secrets.map((name) => name.replace(/^lock\.1\.[\w-]+\.holder$/, 'lock.1.holder'));
  t.deepEqual(known.sort(), ['last-run', 'lock.1.holder', 'postgres-password', 'secret-key']);
  for (const name of secrets) t.is(statSync(join(directory, name)).mode & 0o777, 0o600, name);
});

test.serial('after its start all it writes is a line of the log with its node, up to a defect', async (t) => {
  const directory = dataDirectoryOf(t);
  const library = join(directory, 'library.cjs');
  writeFileSync(
    library,
    `process.on('SIGUSR2', () => {
      process.emitWarning('of Node');
      console.error('of a %s', 'library');
      setTimeout(() => Promise.reject(new Error('nobody caught it')), 100);
    });`,
  );
  const server = await started(t, {
    directory,
    settings: { NODE_ID: 'here', NODE_OPTIONS: `--require ${library}` },
  });
  server.child.kill('SIGUSR2');
  t.is(await server.exitCode, serverExitCodes.software);
  const [, after = ''] = server.output().split(/^Internal API: .*\n/m);
  const lines = after.split('\n').map((line) => JSON.parse(line));
  t.true(lines.every(({ node }) => node === 'here'));
  const logged = lines.map(({ level, msg }) => `${level}: ${msg}`);
  for (const line of ['warn: of Node', 'error: of a library', 'fatal: a defect: ending at once'])
    t.true(logged.includes(line), line);
});

test.serial('a second server on the same directory is refused, and the first goes on', async (t) => {
  const directory = dataDirectoryOf(t);
  const first = await started(t, { directory });
  const second = launch(t, { directory });
  t.is(await second.exitCode, serverExitCodes.inUse);
  t.regex(second.output(), /Another server is running on the data directory/);
  t.is(await statusOf(`${first.url}/healthcheck/readiness`), 200);
});

test.serial(
  'a SIGTERM waits for a request in flight within a bound, and a second one does not',
  async (t) => {
    const directory = dataDirectoryOf(t);
    const server = await started(t, { directory, settings: { DRAIN_TIMEOUT_MS: '60000' } });
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write(
      'POST /v2/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
    const inFlight = /http_requests_in_flight (\d+)/;
    await until(async () => inFlight.exec(await (await fetch(server.metricsUrl)).text())?.[1] === '1');
    server.child.kill('SIGTERM');
    await until(() => server.output().includes('draining'));
    const repeat = setInterval(() => server.child.kill('SIGTERM'), 100);
    t.is(await server.exitCode, 143);
    clearInterval(repeat);
  },
);

test.serial('a SIGTERM during the start ends it in order', async (t) => {
  const directory = dataDirectoryOf(t);
  const server = launch(t, { directory });
  await until(() => readdirSync(directory).includes('postgres-password'));
  server.child.kill('SIGTERM');
  t.is(await server.exitCode, 0);
  t.notRegex(server.output(), /is running/);
});

test.serial('killed alone, it starts again on its directory and takes over its database', async (t) => {
  const directory = dataDirectoryOf(t);
  const first = await started(t, { directory });
  const postmaster = postmasterOf(directory);
  first.child.kill('SIGKILL');
  await first.exitCode;
  t.true(isAlive(postmaster));
  const second = await started(t, { directory });
  t.false(isAlive(postmaster));
  await until(async () => (await statusOf(`${second.url}/healthcheck/readiness`)) === 200);
});

test.serial('killed with everything it started, it starts again on its directory', async (t) => {
  const directory = dataDirectoryOf(t);
  const first = await started(t, { directory });
  const postmaster = postmasterOf(directory);
  process.kill(-(first.child.pid ?? 0), 'SIGKILL');
  process.kill(-postmaster, 'SIGKILL');
  t.is(await first.exitCode, null);
  await until(() => !isAlive(postmaster));
  const second = await started(t, { directory });
  await until(async () => (await statusOf(`${second.url}/healthcheck/readiness`)) === 200);
});

test.serial('a database that dies turns readiness red until it is back', async (t) => {
  const directory = dataDirectoryOf(t);
  const server = await started(t, { directory });
  process.kill(-postmasterOf(directory), 'SIGKILL');
  const readiness = () => statusOf(`${server.url}/healthcheck/readiness`);
  await until(async () => (await readiness()) === 503);
  await until(async () => (await readiness()) === 200);
  t.is(await statusOf(`${server.url}/healthcheck`), 200);
});

test.serial('another secret key than the database was made with is refused', async (t) => {
  const directory = dataDirectoryOf(t);
  const first = await started(t, { directory });
  first.child.kill('SIGTERM');
  await first.exitCode;
  const other = 'ab'.repeat(32);
  const file = join(directory, 'other-key');
  writeFileSync(file, `${other}\n`);
  const second = launch(t, { directory, settings: { SECRET_KEY_FILE: file } });
  t.is(await second.exitCode, serverExitCodes.config);
  t.regex(second.output(), /secret key is not the one this database was made with/);
  t.notRegex(second.output(), new RegExp(other));
});

test.serial('all wrong settings are reported at once and nothing is created', async (t) => {
  const directory = dataDirectoryOf(t);
  const wrong = { PORT: 'http', LEASE_MS: '1', DATABASE_URL_FILE: '/nowhere/url', COOKIE_SECRUE: 'true' };
  const server = launch(t, { directory, settings: wrong });
  t.is(await server.exitCode, serverExitCodes.config);
  t.regex(server.output(), /PORT is not a whole number/);
  t.regex(server.output(), /LEASE_MS is below/);
  t.regex(server.output(), /The file \/nowhere\/url that DATABASE_URL_FILE names cannot be read: ENOENT/);
  t.regex(server.output(), /COOKIE_SECRUE is not a setting\. Did you mean COOKIE_SECURE\?/);
  t.deepEqual(readdirSync(directory), []);
});

test.serial('a port that is taken is reported by its setting, and nothing stays behind', async (t) => {
  const first = await started(t, { directory: dataDirectoryOf(t) });
  const directory = dataDirectoryOf(t);
  const second = launch(t, { directory, settings: { PORT: new URL(first.url).port } });
  t.is(await second.exitCode, serverExitCodes.unavailable);
  t.regex(second.output(), /PORT cannot be listened on/);
  t.deepEqual(endLeftovers(directory), []);
});

test.serial('a database that cannot be reached is reported without its password', async (t) => {
  const directory = dataDirectoryOf(t);
  const settings = { DATABASE_URL: 'postgresql://someone:hunter2@127.0.0.1:1/nowhere' };
  const server = launch(t, { directory, settings });
  t.is(await server.exitCode, serverExitCodes.unavailable);
  t.regex(server.output(), /The database cannot be used/);
  t.notRegex(server.output(), /hunter2/);
});

const nobody = { uid: 65_534, gid: 65_534 };

// Without root, every test above shows that an ordinary user can run it.
const asRoot = process.getuid?.() === 0;

async function runsAsOrdinaryUser(t: ExecutionContext): Promise<void> {
  const directory = dataDirectoryOf(t, nobody);
  const account = await chooseAccount(directory, tmpdir(), [buildDirectory]);
  const server = await started(t, { directory, account });
  t.is(await statusOf(`${server.url}/healthcheck/readiness`), 200);
  t.is(statSync(join(directory, 'secret-key')).uid, nobody.uid);
  t.is(statSync(join(directory, 'postgres')).uid, nobody.uid);
  server.child.kill('SIGTERM');
  t.is(await server.exitCode, 0);
}

if (asRoot) test.serial('an ordinary user runs it as well as root', runsAsOrdinaryUser);
