/** The users of a dying process: their waits when its supervisor survives, and when that dies with it. */
import test, { type ExecutionContext } from 'ava';
import { startNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';
import { type Builds, buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import { Probe } from './probe.ts';

/** Long enough to tell an expired lease from one that was given up. */
const leaseMs = 12_000;
const testLimitMs = 180_000;
const servedLimitMs = 6_000;
let builds: Builds;

test.before(async () => {
  builds = await buildTwice('take-over');
});

async function start(t: ExecutionContext): Promise<{ cluster: Cluster; probe: Probe }> {
  t.timeout(testLimitMs);
  const nats = await startNatsServer();
  const cluster = await Cluster.start({ builds, leaseMs, nodes: 3, nats: [nats] });
  t.teardown(() => cluster.stop());
  await until(allReady(cluster), 4 * leaseMs);
  return { cluster, probe: await Probe.open(cluster.gateways) };
}

const allReady = (cluster: Cluster) => async (): Promise<boolean> =>
  (await Promise.all(cluster.nodes.map((node) => node.isReady()))).every((ready) => ready);

/** Each has its share, so that every death affects some users. */
const allServe = (cluster: Cluster) => async (): Promise<boolean> =>
  (await Promise.all(cluster.nodes.map((node) => node.metric('scriptorium_shards')))).every(
    (shards = 0) => shards > 0,
  );

const nodesOf = async ({ database }: Cluster) =>
  new Map(
    (await database.query('SELECT id, incarnation FROM node')).map(({ id, incarnation }) => [
      id,
      incarnation,
    ]),
  );

test.serial(
  'the users of a server that is killed are served by others long before its lease is over',
  async (t) => {
    const { cluster, probe } = await start(t);
    for (const killed of cluster.nodes) {
      await until(allServe(cluster), 2 * leaseMs);
      const begunMs = performance.now();
      const ended = killed.killServer();
      const gateways = cluster.nodes.filter((node) => node !== killed).map(({ url }) => url);
      const served = await probe.served(gateways, servedLimitMs);
      t.log(`${killed.id}: everybody is served after ${Math.round(performance.now() - begunMs)} ms`);
      t.not(served, undefined);
      t.is((await nodesOf(cluster)).get(killed.id), null);
      await ended;
      await killed.start();
    }
    t.not(await probe.servedByEach(cluster.gateways, leaseMs), undefined);
  },
);

test.serial(
  'a server that stands still is given up by nobody, and its supervisor gives up what dies later',
  async (t) => {
    const { cluster, probe } = await start(t);
    const [stopped, ...others] = cluster.nodes;
    const before = (await nodesOf(cluster)).get('node-1');
    stopped?.pause();
    const gateways = others.map(({ url }) => url);
    t.is(await probe.served(gateways, leaseMs / 4), undefined);
    t.is((await nodesOf(cluster)).get('node-1'), before);
    stopped?.resume();
    t.not(await probe.served(gateways, servedLimitMs), undefined);
    await stopped?.killServer();
    t.not(await probe.served(gateways, servedLimitMs), undefined);
  },
);
