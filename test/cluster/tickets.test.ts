/** Tickets of the sync lane over two nodes, which share NATS and a database. */
import test from 'ava';
import { Device } from '../kit/device.ts';
import { deviceId, openLane, ticketOf } from '../kit/lane.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const rounds = 5;

test('a ticket that is shown to two nodes at once lets in one socket, and none after that', async (t) => {
  t.timeout(240_000);
  const builds = await buildTwice('tickets');
  const cluster = await Cluster.start({ builds, leaseMs: 3_000, nodes: 2, nats: [await startNatsServer()] });
  t.teardown(() => cluster.stop());
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  for (const node of [first, second]) await until(() => node.isReady());
  const phone = await Device.register({ url: first.url });
  const show = async (ticket: string, node: ClusterNode): Promise<string> => {
    const { lane } = await openLane(t, node);
    lane.send('AUTH', { ticket, deviceId });
    const { type, payload } = await lane.next((frame) => ['AUTHENTICATED', 'ERROR'].includes(frame.type));
    return payload.code ?? type;
  };
  const everywhere = async (ticket: string) =>
    (await Promise.all([first, second, first, second].map((node) => show(ticket, node)))).sort();
  const refused = Array.from({ length: 4 }, () => 'AUTH_REJECTED');
  for (let round = 0; round < rounds; round += 1) {
    const minting = round % 2 === 0 ? first : second;
    const ticket = await ticketOf(new Device({ url: minting.url }, phone.account));
    t.deepEqual(await everywhere(ticket), ['AUTHENTICATED', ...refused.slice(1)]);
    t.deepEqual(await everywhere(ticket), refused);
  }
});
