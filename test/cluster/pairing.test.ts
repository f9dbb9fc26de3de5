/**
 * A pairing over three nodes: it starts on one, its browser comes back to another, and the third uses it. Meanwhile
 * the test kills the node that holds it, with its unfinished work.
 */
import test from 'ava';
import { pairingId } from '../../actors/pairing/contract.ts';
import { shardOf } from '../../runtime/address.ts';
import { openStream, streamed } from '../kit/assisted.ts';
import { Device } from '../kit/device.ts';
import { call } from '../kit/http.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startModelServer } from '../kit/model-server.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { adminEmails, base, pairingSettingsFor } from '../kit/pairing.ts';
import { type Builds, buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const shardCount = 1_024;
let builds: Builds;

test.before(async () => {
  builds = await buildTwice('pairing');
});

test('a subscription is started, completed and used through three nodes, and each time its host is killed in between', async (t) => {
  t.timeout(240_000);
  const model = await startModelServer(t);
  const identity = await startIdentityProvider(t, (token) => model.state.tokens.add(token));
  // Too short to be used: each answer needs a refresh.
  identity.lifetimeSeconds(30);
  const cluster = await Cluster.start({
    builds,
    leaseMs: 3_000,
    nodes: 3,
    nats: [await startNatsServer()],
    settings: pairingSettingsFor(identity.endpoints, model.url),
  });
  t.teardown(() => cluster.stop());
  const through = (node: ClusterNode, device: Device) => new Device({ url: node.url }, device.account);
  const refreshes = () =>
    identity.requests.filter((each) => each.get('grant_type') === 'refresh_token').length;
  const [first, second, third] = cluster.nodes;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three nodes');
  const admin = await Device.register({ url: first.url }, { email: adminEmails[0] });

  let host = await hostOf(cluster);
  const [one, two] = cluster.nodes.filter((each) => each !== host) as [ClusterNode, ClusterNode];
  const { body: started } = await through(one, admin).call('POST', `${base}/start`);
  t.is(started.subscriptionId, 'default');
  await host.kill();
  const brought = await identity.agree(started.authorizationUrl);
  const page = await call(two.url, 'GET', `${base}/callback?${brought}`);
  t.is(page.status, 200, page.text);
  await host.start();

  host = await hostOf(cluster);
  await host.kill();
  const [user, other] = cluster.nodes.filter((each) => each !== host) as [ClusterNode, ClusterNode];
  const { events, status } = await streamed(openStream(user.url, admin, {}));
  t.is(status, 200);
  t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'end_turn' });
  t.is(refreshes(), 1);
  await host.start();

  // As many as one user may send at once, through all nodes: one refresh, whose token now lives long enough for all.
  identity.lifetimeSeconds(3_600);
  const all = await Promise.all(
    [user, other, host, user].map(({ url }) => streamed(openStream(url, admin, {}))),
  );
  for (const { events } of all) t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'end_turn' });
  t.is(refreshes(), 2);
  const views = await Promise.all(
    cluster.nodes.map(async (node) => (await through(node, admin).call('GET', `${base}/status`)).body),
  );
  for (const { subscription } of views) t.like(subscription, { paired: true, repairReason: null });
  t.deepEqual(views.slice(1), [views[0], views[0]]);
});

/** The node that holds the pairings. */
async function hostOf({ database, nodes }: Cluster): Promise<ClusterNode> {
  const shard = shardOf({ kind: 'pairing', id: pairingId }, shardCount);
  const [row] = await database.query(`SELECT node FROM shard WHERE shard = ${shard}`);
  const host = nodes.find(({ id }) => id === row?.['node']);
  if (host === undefined) throw new Error('nobody holds the pairings');
  return host;
}
