/** A process that serves for a moment, closes the transport and has nothing more to do. */
import { systemClock } from '../../../runtime/clock.ts';
import { silentLogger } from '../../../runtime/ports.ts';
import { systemRandom } from '../../../runtime/random.ts';
import { noTransportMetrics } from '../../../runtime/transport/nats/metrics.ts';
import { openNatsTransport } from '../../../runtime/transport/nats/nats-transport.ts';
import { signingKey, until } from '../../kit/transport-process.ts';

const transport = await openNatsTransport({
  access: { servers: process.argv.slice(2) },
  clusterName: 'test',
  databaseId: 'database',
  incarnation: systemRandom.uuid(),
  shardCount: 16,
  signingKey,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  metrics: noTransportMetrics,
});
const ask = async () => null;
transport.serve({ ask, askFromRemote: ask, epochOf: () => 1, wake() {}, hinted() {} });
await transport.route([0, 1, 2]);
await until(() => transport.isWakeStreamAvailable);
await transport.close(1_000);
// Otherwise the channel to the parent would keep it alive.
process.disconnect();
