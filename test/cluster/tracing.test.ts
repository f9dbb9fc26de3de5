/** A trace of one request across the processes that take part in it. */
import test from 'ava';
import { startCollector } from '../kit/collector.ts';
import { Device } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { enterLane, run } from '../kit/lane.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

test('a save through another node than the owner is one trace, from the request to the notice', async (t) => {
  t.timeout(240_000);
  const collector = await startCollector();
  t.teardown(() => collector.stop());
  const cluster = await Cluster.start({
    builds: await buildTwice('tracing'),
    leaseMs: 3_000,
    nodes: 2,
    nats: [await startNatsServer()],
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=notes%20of%20all',
    },
  });
  t.teardown(() => cluster.stop());
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  for (const node of [first, second]) await until(() => node.isReady());

  const phone = await Device.register({ url: first.url }, { email: 'traced@example.org' });
  const content = `004:${crypto.randomUUID()}`;
  const socket = await enterLane(t, phone, second);
  await run(socket, 'command-1', { api: '20200115', items: [note({ content })] });
  for (const { url } of [first, second]) {
    const items = [note({ uuid: crypto.randomUUID(), content })];
    const { status } = await new Device({ url }, phone.account).call('POST', '/v1/items', {
      body: { api: '20200115', items },
    });
    t.is(status, 200);
  }
  const roots = () => collector.spans.filter(({ name }) => name === 'POST /v1/items');
  await until(() => roots().length === 2);
  const trees = roots().map((root) => collector.tree(root));
  t.log(trees);
  t.log(collector.spans.filter(({ name }) => name.startsWith('COMMAND')).map((root) => collector.tree(root)));
  t.fail();
});
