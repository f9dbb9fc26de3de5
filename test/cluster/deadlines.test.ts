/** No request stays open beyond its deadline, whatever fails. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { headerSessions } from '../kit/account.ts';
import { note } from '../kit/items.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { SeededRandom } from '../kit/random.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { register, signIn } from './account.ts';
import { buildTwice } from './build.ts';
import { openClient } from './client.ts';
import { Cluster } from './cluster.ts';
import { Probe } from './probe.ts';
import { Tally } from './tally.ts';

/** The handler's extra time after the deadline, and the delay of a busy machine. */
const slackMs = 6_000;
const openMaxMs = defaultLimits.defaultDeadlineMs + slackMs;
/** Requests of each kind at each node. So both kinds of link are cut: to the database here, and over NATS to the other node. */
const requestsEach = 2;

const ways: Readonly<Record<string, (link: TcpProxy) => void>> = {
  cut: (link) => link.cut(),
  silent: (link) => link.silence('to-server', 'to-client'),
};

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

const syncOf = (items: readonly object[]) => ({ api: headerSessions, limit: 150, items });
/** One of each kind: with and without a session, with and without a write, and what asks another actor. */
const kinds: Readonly<Record<string, () => Asked>> = {
  'sign-in': () => {
    const body = { api: headerSessions, email: `${randomUUID()}@cluster.test`, password: 'a'.repeat(64) };
    return { method: 'POST', path: '/v1/login', body };
  },
  sync: () => ({ method: 'POST', path: '/v1/items', body: syncOf([]) }),
  save: () => ({ method: 'POST', path: '/v1/items', body: syncOf([note({ uuid: randomUUID() })]) }),
  'one item': () => ({ method: 'GET', path: `/v1/items/${randomUUID()}` }),
  sessions: () => ({ method: 'GET', path: '/v1/sessions' }),
  'new vault': () => ({ method: 'POST', path: '/v1/shared-vaults' }),
  ticket: () => ({ method: 'POST', path: '/v1/sockets/tokens' }),
  readiness: () => ({ method: 'GET', path: '/healthcheck' }),
};

interface Answered {
  readonly kind: string;
  readonly status: number;
  readonly tookMs: number;
}

async function ask(
  url: string,
  token: string,
  kind: string,
  { method, path, body }: Asked,
): Promise<Answered> {
  const beganMs = performance.now();
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(2 * openMaxMs),
  });
  await response.arrayBuffer();
  return { kind, status: response.status, tookMs: performance.now() - beganMs };
}

const askAll = (cluster: Cluster, token: string) =>
  cluster.gateways.flatMap((url) =>
    Object.entries(kinds).flatMap(([kind, asked]) =>
      Array.from({ length: requestsEach }, () => ask(url, token, kind, asked())),
    ),
  );

async function sessionAt(cluster: Cluster): Promise<string> {
  const options = { gateways: cluster.gateways, tally: new Tally(), timeoutMs: openMaxMs };
  const client = openClient('device', new SeededRandom(1), options, () => false);
  return signIn(client, await register(client));
}

test.serial(
  'a request that waits while database and NATS are taken away is answered within its deadline, whatever it asks',
  async (t) => {
    t.timeout(300_000);
    const nats = await startNatsServer();
    const builds = await buildTwice('deadlines');
    const cluster = await Cluster.start({ builds, leaseMs: 4_000, nodes: 2, nats: [nats] });
    t.teardown(() => cluster.stop());
    await until(async () => (await Promise.all(cluster.nodes.map((node) => node.isReady()))).every(Boolean));
    const probe = await Probe.open(cluster.gateways);
    const token = await sessionAt(cluster);
    const links = cluster.nodes.flatMap((node) => [node.links.database, ...node.links.nats]);
    for (const [way, takeAway] of Object.entries(ways)) {
      const before = askAll(cluster, token);
      // Sent to the server, and not answered yet.
      await new Promise((resolve) => setImmediate(resolve));
      for (const link of links) takeAway(link);
      const answers = await Promise.all([...before, ...askAll(cluster, token)]);
      const longestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
      const statuses = [...new Set(answers.map(({ status }) => status))].toSorted();
      t.log(`${way}: ${answers.length} answered, after ${Math.round(longestMs)} ms at most, by ${statuses}`);
      for (const kind of Object.keys(kinds)) {
        const waits = answers.filter((each) => each.kind === kind).map(({ tookMs }) => tookMs);
        t.log(`${way}: ${kind}, ${Math.round(Math.max(...waits))} ms at most`);
      }
      t.true(longestMs < openMaxMs, `${way}: ${longestMs} ms`);
      t.true(statuses.includes(503), `${way}: ${statuses}`);
      for (const link of links) link.heal();
      t.not(await probe.servedByEach(cluster.gateways, 60_000), undefined);
    }
  },
);
