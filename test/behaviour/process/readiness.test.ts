/**
 * What makes a process of each role unready, and what `READY_WITHOUT` tolerates (docs/operations.md, "Watching it").
 */
import { rmSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../kit/clock.ts';
import {
  type ConfiguredServer,
  type Environment,
  startConfiguredServer,
} from '../../kit/configured-server.ts';
import { ModelDatabase } from '../../kit/model-store/model-store.ts';
import { startNatsServer, type TestNatsServer } from '../../kit/nats-server.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { until } from '../../kit/until.ts';

const names = ['database', 'host', 'transport', 'files'] as const;
type Name = (typeof names)[number];

/** In the order of `docs/operations.md`. */
const checksOfRole = {
  all: ['clock', 'database', 'files', 'host', 'mail', 'peers', 'serving', 'transport', 'wakeups', 'writes'],
  host: ['clock', 'database', 'files', 'host', 'mail', 'peers', 'serving', 'transport', 'wakeups', 'writes'],
  gateway: ['clock', 'database', 'files', 'host', 'mail', 'serving', 'transport'],
} as const;
type Role = keyof typeof checksOfRole;

async function natsFor(t: ExecutionContext): Promise<TestNatsServer> {
  const nats = await startNatsServer();
  t.teardown(() => nats.stop());
  return nats;
}

async function started(t: ExecutionContext, role: Role, environment: Environment = {}) {
  const [nats, folder] = [await natsFor(t), temporaryFolder(t)];
  const settings = {
    ROLE: role,
    NODE_ID: 'one',
    NATS_URL: nats.url,
    SECRET_KEY: '07'.repeat(32),
    DATABASE_URL: 'postgres://nobody:asks@127.0.0.1:1/it',
    SHARD_COUNT: '16',
    FILES_FOLDER: folder,
    FILES_FOLDER_SHARED: 'true',
    FILES_FREE_SPACE_RESERVE: '0',
  };
  const server = await startConfiguredServer(t, { ...settings, ...environment });
  return { server, nats, folder };
}

async function readinessOf({ adminUrl, answered }: ConfiguredServer) {
  const response = await answered(fetch(`${adminUrl}/healthcheck/readiness`));
  const { checks } = (await response.json()) as { checks: Record<string, string> };
  return { status: response.status, checks };
}

/** A result stays valid for half a minute. */
const keptMs = 31_000;

/** How to make each check fail, in the role whose list has it and in which nothing else fails with it. */
const broken: Record<
  Name,
  { readonly role: Role; readonly byWhat: (of: Awaited<ReturnType<typeof started>>) => unknown }
> = {
  database: { role: 'all', byWhat: ({ server }) => server.loseDatabase() },
  host: { role: 'gateway', byWhat: () => {} },
  transport: { role: 'all', byWhat: ({ nats }) => nats.kill() },
  files: { role: 'all', byWhat: ({ folder }) => rmSync(folder, { recursive: true }) },
};

test('a check that has failed makes a process unready, unless READY_WITHOUT names just that', async (t) => {
  for (const name of names) {
    for (const [listed, status, result] of [
      [names.filter((other) => other !== name).join(','), 503, 'failed'],
      [name, 200, 'degraded'],
    ] as const) {
      const all = await started(t, broken[name].role, { READY_WITHOUT: listed });
      await broken[name].byWhat(all);
      await all.server.advance(keptMs);
      await until(async () => (await readinessOf(all.server)).checks[name] === result);
      const found = await readinessOf(all.server);
      t.is(found.status, status, `${name}: ${JSON.stringify(found)}`);
    }
  }
});

test('the checks of each role are those in the documents', async (t) => {
  for (const role of ['all', 'host', 'gateway'] as const) {
    const { server } = await started(t, role);
    t.deepEqual(Object.keys((await readinessOf(server)).checks).toSorted(), [...checksOfRole[role]]);
  }
});

test('less room than the reserve is a warning: notes are served, and the process stays ready', async (t) => {
  const server = await startConfiguredServer(t, { FILES_FREE_SPACE_RESERVE: '1048576' });
  const response = await fetch(`${server.url}/healthcheck/readiness`);
  t.is(response.status, 200);
  t.like(await response.json(), { status: 'ready', checks: { files: 'degraded' } });
});

test('a process whose clock is wrong by more than CLOCK_SKEW_MAX_MS is not ready and serves nobody until it is set', async (t) => {
  for (const [most, status, check] of [
    ['30000', 503, 'failed'],
    ['120000', 200, 'ok'],
  ] as const) {
    const clock = new FakeClock();
    const startMs = clock.nowMs() - clock.monotonicMs();
    const database = new ModelDatabase({ nowMs: () => startMs + clock.monotonicMs() });
    const server = await startConfiguredServer(t, { CLOCK_SKEW_MAX_MS: most }, clock, database);
    t.is((await readinessOf(server)).checks['clock'], 'ok');
    clock.jumpWall(60_000);
    await server.advance(keptMs);
    const found = await readinessOf(server);
    t.deepEqual([found.status, found.checks['clock']], [status, check]);
    t.is(found.checks['host'], check);
    clock.jumpWall(-60_000);
    await server.advance(keptMs);
    t.is((await readinessOf(server)).status, 200);
  }
});
