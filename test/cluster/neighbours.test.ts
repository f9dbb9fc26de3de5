/**
 * Neighbours that are misconfigured, weak or faulty: the server refuses them with a clear message, or survives them
 * with nothing lost.
 */
import test, { type ExecutionContext } from 'ava';
import { serverExitCodes } from '../../process/start-error.ts';
import { startNatsServer, type TestNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';
import { type Builds, buildTwice } from './build.ts';
import { check } from './checker/checker.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { Database } from './database.ts';
import { History } from './history.ts';
import { Probe } from './probe.ts';
import { mountSmallDisk } from './small-disk.ts';
import { Tally } from './tally.ts';
import { Workload } from './workload.ts';

const leaseMs = 3_000;
const testLimitMs = 180_000;
let builds: Builds;

test.before(async () => {
  builds = await buildTwice('neighbours');
});

async function start(
  t: ExecutionContext,
  { nats, ...options }: Omit<Partial<ClusterOptions>, 'nats'> & { nats?: TestNatsServer } = {},
): Promise<Cluster> {
  t.timeout(testLimitMs);
  const server = nats ?? (await startNatsServer());
  const cluster = await Cluster.start({ builds, leaseMs, nodes: 1, nats: [server], ...options });
  t.teardown(() => cluster.stop());
  return cluster;
}

const allReady = (cluster: Cluster) => async (): Promise<boolean> =>
  (await Promise.all(cluster.nodes.map((node) => node.isReady()))).every((ready) => ready);

test.serial('a node with another shard count is refused, and told which one is right', async (t) => {
  const cluster = await start(t);
  const { code, said } = await (await cluster.join('node-2', { SHARD_COUNT: '512' })).refusal();
  t.is(code, serverExitCodes.config);
  t.regex(said, /SHARD_COUNT is 512, and this database was made with 1024/);
});

test.serial('a node of another cluster is refused at this database', async (t) => {
  const cluster = await start(t);
  const { code, said } = await (await cluster.join('node-2', { CLUSTER_NAME: 'other' })).refusal();
  t.is(code, serverExitCodes.config);
  t.regex(said, /CLUSTER_NAME is other, and this database was made with scriptorium/);
});

test.serial(
  'a second process under the name of a living node is refused, and the first serves on',
  async (t) => {
    const cluster = await start(t);
    const probe = await Probe.open(cluster.gateways);
    const [first] = cluster.nodes;
    const { code, said } = await (await cluster.join('node-1')).refusal();
    t.is(code, serverExitCodes.inUse);
    t.regex(said, /Another process serves as node "node-1"/);
    t.not(await probe.served([first?.url ?? ''], 5_000), undefined);
    t.deepEqual(cluster.endedByThemselves, []);
  },
);

test.serial('the users of a node that is cut off from NATS alone are served by the others', async (t) => {
  const cluster = await start(t, { nodes: 3 });
  await until(allReady(cluster));
  const probe = await Probe.open(cluster.gateways);
  const [cut, ...others] = cluster.nodes;
  t.true(((await cut?.metric('scriptorium_shards')) ?? 0) > 0);
  for (const link of cut?.links.nats ?? []) link.cut();
  const gateways = others.map(({ url }) => url);
  t.not(await probe.served(gateways, 4 * cluster.leaseMs), undefined);
  t.is(await cut?.metric('scriptorium_shards'), 0);
  for (const link of cut?.links.nats ?? []) link.heal();
  await until(async () => ((await cut?.metric('scriptorium_shards')) ?? 0) > 0);
  t.not(await probe.served([cut?.url ?? ''], 10_000), undefined);
});

test.serial('a wrong password for NATS is told at the start, and not shown', async (t) => {
  const config = 'authorization { user: "scriptorium", password: "right" }';
  const nats = await startNatsServer({ config });
  const cluster = await start(t, { nats, nodes: 0 });
  const address = `127.0.0.1:${nats.port}`;
  const wrong = await cluster.join('node-1', { NATS_URL: `nats://scriptorium:hunter2@${address}` });
  const { code, said } = await wrong.refusal();
  t.is(code, serverExitCodes.unavailable);
  t.regex(said, /NATS cannot be used/);
  t.regex(said, /[Aa]uthori[sz]ation|password|credentials/);
  t.notRegex(said, /hunter2/);
  const right = await cluster.join('node-2', { NATS_URL: `nats://scriptorium:right@${address}` });
  await right.start();
  await until(() => right.isReady());
});

test.serial(
  'without JetStream all works, wake-ups are shown as degraded, and tells arrive by sweeps',
  async (t) => {
    const nats = await startNatsServer({ jetStream: false });
    const cluster = await start(t, { nats, nodes: 2 });
    await until(allReady(cluster));
    for (const node of cluster.nodes) t.is((await node.readiness())['wakeups'], 'degraded');
    // Every registration leaves two tells, half of them for actors of the other node.
    const probe = await Probe.open(cluster.gateways);
    t.not(await probe.servedByEach(cluster.gateways, 10_000), undefined);
    await until(async () => (await cluster.pendingTells()) === 0);
  },
);

/** A workload runs while `ail` makes the database unable to write, and until `heal` makes it able again. */
async function survives(
  t: ExecutionContext,
  cluster: Cluster,
  illness: { readonly ail: () => Promise<unknown>; readonly heal: () => Promise<unknown> },
): Promise<void> {
  await until(allReady(cluster));
  const { gateways } = cluster;
  const history = new History();
  const tally = new Tally();
  const load = { gateways, users: 2, devicesOfEach: 2, seed: 1, pauseMs: 50, timeoutMs: 4_000 };
  const workload = new Workload({ ...load, history, tally });
  await workload.open();
  const probe = await Probe.open(gateways);
  workload.start();
  t.teardown(() => workload.abandon());
  await until(() => tally.acknowledgedWrites > 50);
  await illness.ail();
  await until(async () => !(await allReady(cluster)()));
  t.is(await probe.served(gateways, 3_000), undefined);
  const refused = await probe.refusal(gateways[0] ?? '');
  t.is(refused.status, 503);
  t.regex(refused.retryAfter ?? '', /^\d+$/);
  await illness.heal();
  await until(allReady(cluster), 60_000);
  t.not(await probe.servedByEach(gateways, 20_000), undefined);
  await workload.finish();
  t.deepEqual(check(history.entries), []);
  t.deepEqual(cluster.endedByThemselves, []);
}

test.serial('a database that became read-only is survived, and nothing is lost', async (t) => {
  const cluster = await start(t, { nodes: 2 });
  const { database } = cluster;
  await survives(t, cluster, {
    ail: () =>
      database.query('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()'),
    heal: () =>
      database.query(
        'SET default_transaction_read_only = off',
        'ALTER SYSTEM RESET default_transaction_read_only',
        'SELECT pg_reload_conf()',
      ),
  });
});

const disk = mountSmallDisk(160);
const onDisk = disk === undefined ? test.serial.skip : test.serial;

onDisk(
  'a database out of disk is survived, and nothing is lost (a small file system, as root)',
  async (t) => {
    if (disk === undefined) return;
    t.teardown(() => disk.unmount());
    const settings = { max_wal_size: '32MB', min_wal_size: '32MB' };
    const database = await Database.start({ parent: disk.path, settings });
    const cluster = await start(t, { nodes: 2, database });
    const ail = async () => {
      await disk.fill();
      // Its reserve for the log is used up as well.
      await until(() =>
        database.query('SELECT pg_switch_wal()').then(
          () => false,
          () => true,
        ),
      );
    };
    await survives(t, cluster, { ail, heal: () => disk.free() });
  },
);
