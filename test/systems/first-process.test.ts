/**
 * The supervisor as the first process of a container, in a namespace of processes of its own. There the kernel gives it
 * the signals of the container, and no signal has an effect that it does not handle.
 */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { databaseUrl, startTestPostgres } from '../kit/postgres.ts';
import { isAlive, root, type ServerProcess, startServerProcess } from '../kit/server-process.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';

/** No test waits for it. */
const leaseMs = 120_000;
const testLimitMs = 180_000;
/** Root needs no other rights, and would lose those to the files of the database. */
const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const namespace = [...asRoot, '--pid', '--fork', '--mount-proc', '--kill-child'];
const asFirst = (command: string, args: readonly string[], options: SpawnOptions) =>
  spawn('unshare', [...namespace, command, ...args], options);
const hasNamespaces = spawnSync('unshare', [...namespace, 'true']).status === 0;
const inNamespace = hasNamespaces ? test.serial : test.serial.skip;

function childOf(pid: number | undefined): number {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (first === undefined || first === '') throw new Error(`process ${pid} has no child`);
  return Number(first);
}

async function start(t: ExecutionContext) {
  t.timeout(testLimitMs);
  const [postgres, nats] = await Promise.all([startTestPostgres(), startNatsServer()]);
  t.teardown(() => Promise.all([postgres.stop(), nats.stop()]));
  const folder = temporaryFolder(t);
  const connection = await postgres.createDatabase();
  const started: ServerProcess = startServerProcess({
    entry: ['--import=tsx', join(root, 'supervisor.ts')],
    dataDirectory: join(folder, 'data'),
    account: { spawn: asFirst as typeof spawn },
    settings: {
      NODE_ID: 'a',
      SECRET_KEY: 'ab'.repeat(32),
      LEASE_MS: String(leaseMs),
      DATABASE_URL: databaseUrl(connection),
      NATS_URL: nats.url,
      NATS_ALLOW_INSECURE: 'true',
      FILES_FOLDER: join(folder, 'files'),
      FILES_FOLDER_SHARED: 'true',
    },
  });
  t.teardown(() => started.child.kill('SIGKILL'));
  await started.ready();
  const store = await openPostgresStore({ connection, clock: systemClock });
  t.teardown(() => store.close());
  const supervisor = childOf(started.child.pid);
  const server = childOf(supervisor);
  t.regex(readFileSync(`/proc/${supervisor}/status`, 'utf8'), /^NSpid:\s+\d+\s+1$/m);
  const registered = async () => (await store.nodes()).find(({ id }) => id === 'a')?.incarnation;
  t.is(typeof (await registered()), 'string');
  return { started, supervisor, server, registered };
}

inNamespace(
  'a container whose server is killed gives up its lease, and ends with the code of that',
  async (t) => {
    const { started, server, registered } = await start(t);
    process.kill(server, 'SIGKILL');
    await until(async () => (await registered()) === null);
    t.is(await started.exitCode, 137);
  },
);

inNamespace('a container that is stopped ends in order, and leaves no process', async (t) => {
  const { started, supervisor, server, registered } = await start(t);
  process.kill(supervisor, 'SIGTERM');
  t.is(await started.exitCode, 0);
  t.is((await registered()) ?? null, null);
  t.deepEqual([supervisor, server].filter(isAlive), []);
});
