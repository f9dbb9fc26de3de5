/** One scenario of traces: saves through both nodes of a cluster, by HTTP and by the sync lane. */
import type { ExecutionContext } from 'ava';
import type { Collector } from '../kit/collector.ts';
import { Device } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { enterLane, run } from '../kit/lane.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const api = '20200115';

/** The nodes send their traces to `endpoint`, and from there they come to the collector. */
export async function tracesSaves(
  t: ExecutionContext,
  collector: Collector,
  endpoint: string,
): Promise<void> {
  const cluster = await Cluster.start({
    builds: await buildTwice('tracing'),
    leaseMs: 3_000,
    nodes: 2,
    nats: [await startNatsServer()],
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=all%20notes' },
  });
  t.teardown(() => cluster.stop());
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  for (const node of [first, second]) await until(() => node.isReady());

  const phone = await Device.register({ url: first.url }, { email: 'traced@example.org' });
  const content = `004:${crypto.randomUUID()}`;
  const saved = (items: readonly object[]) => ({ api, items });
  const socket = await enterLane(t, phone, second);
  await run(socket, 'command-1', saved([note({ content })]));
  const uuids = [crypto.randomUUID(), crypto.randomUUID()];
  for (const [index, { url }] of [first, second].entries()) {
    // The owner reads the row of an item that a client has synced before.
    const item = { uuid: uuids[index], content, updated_at_timestamp: 1 };
    const body = saved([note(item)]);
    t.is((await new Device({ url }, phone.account).call('POST', '/v1/items', { body })).status, 200);
  }

  const roots = (name: string) => collector.spans.filter((span) => span.name === name);
  await until(() => roots('POST /v1/items').length === 2 && roots('COMMAND SYNC_ITEMS').length === 1);
  const owner = collector.spans.find(({ name }) => name === 'commit')?.node ?? '';
  for (const { id } of [first, second]) {
    const root = roots('POST /v1/items').find(({ node }) => node === id);
    t.deepEqual(root && collector.tree(root), [`POST /v1/items @${id}`, ...saveAt(id, owner, second.id)]);
  }
  const [command] = roots('COMMAND SYNC_ITEMS');
  const steps = command === undefined ? [] : collector.tree(command);
  t.deepEqual(
    steps.filter((step) => /call|commit/.test(step)),
    [
      `  call user.holdSyncCommand @${second.id}`,
      `  call user.sync @${second.id}`,
      `${'  '.repeat(owner === second.id ? 3 : 4)}commit @${owner}`,
    ],
  );
  const linked = roots('commit batch').flatMap(({ links = [] }) => links.map(({ spanId }) => spanId));
  for (const { spanId } of roots('commit')) t.true(linked.includes(spanId));
  const { userUuid, access } = phone.account;
  for (const secret of ['traced@example.org', userUuid, access, content, ...uuids, '127.0.0.1'])
    t.false(collector.received.includes(secret), secret);
}

/** The steps of a save that a node was asked for, while devices of the user listen at `listening`. */
function saveAt(entryNode: string, owner: string, listening: string): readonly string[] {
  const served = entryNode === owner ? [] : [`serve user.sync @${owner}`];
  const names = [
    `call user.sync @${entryNode}`,
    ...served,
    `turn user.sync @${owner}`,
    `commit @${owner}`,
    `notice @${listening}`,
  ];
  const steps = names.map((name, index) => `${'  '.repeat(index + 1)}${name}`);
  const [commit = '', notice = ''] = steps.slice(-2);
  // One notice for the item, one for the position.
  return [...steps.slice(0, -2), commit.replace('commit', 'reads'), commit, notice, notice];
}
