/** No request stays open beyond its deadline, whatever fails. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { headerSessions } from '../kit/account.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import { Probe } from './probe.ts';

/** The handler's extra time after the deadline, and the delay of a busy machine. */
const slackMs = 6_000;
const openMostMs = defaultLimits.defaultDeadlineMs + slackMs;
/** Some at either node, so that both kinds of link are cut: to the database here, and over NATS to the other. */
const requestsEach = 6;

const ways: Readonly<Record<string, (link: TcpProxy) => void>> = {
  cut: (link) => link.cut(),
  silent: (link) => link.silence('to-server', 'to-client'),
};

/** Milliseconds until the answer, and the answer itself. */
async function login(url: string): Promise<{ readonly status: number; readonly tookMs: number }> {
  const beganMs = performance.now();
  const password = 'a'.repeat(64);
  const response = await fetch(`${url}/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api: headerSessions, email: `${randomUUID()}@cluster.test`, password }),
    signal: AbortSignal.timeout(2 * openMostMs),
  });
  await response.arrayBuffer();
  return { status: response.status, tookMs: performance.now() - beganMs };
}

const loginsAt = (cluster: Cluster) =>
  cluster.gateways.flatMap((url) => Array.from({ length: requestsEach }, () => login(url)));

test.serial(
  'a sign-in that waits while database and NATS are taken away is answered within its deadline',
  async (t) => {
    t.timeout(300_000);
    const nats = await startNatsServer();
    const builds = await buildTwice('deadlines');
    const cluster = await Cluster.start({ builds, leaseMs: 4_000, nodes: 2, nats: [nats] });
    t.teardown(() => cluster.stop());
    await until(async () => (await Promise.all(cluster.nodes.map((node) => node.isReady()))).every(Boolean));
    const probe = await Probe.open(cluster.gateways);
    const links = cluster.nodes.flatMap((node) => [node.links.database, ...node.links.nats]);
    for (const [way, takeAway] of Object.entries(ways)) {
      const before = loginsAt(cluster);
      // Sent to the server, and not answered yet.
      await new Promise((resolve) => setImmediate(resolve));
      for (const link of links) takeAway(link);
      const answers = await Promise.all([...before, ...loginsAt(cluster)]);
      const longestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
      const statuses = [...new Set(answers.map(({ status }) => status))].toSorted();
      t.log(`${way}: ${answers.length} answered, after ${Math.round(longestMs)} ms at most, by ${statuses}`);
      t.true(longestMs < openMostMs, `${way}: ${longestMs} ms`);
      t.true(statuses.includes(503), `${way}: ${statuses}`);
      for (const link of links) link.heal();
      t.not(await probe.servedByEach(cluster.gateways, 60_000), undefined);
    }
  },
);
