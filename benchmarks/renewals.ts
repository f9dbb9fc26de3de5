/**
 * The cost of a gateway's subscriptions after its connection to NATS was cut: the CPU time until all of them are
 * renewed. Hosts are a model that answers at once.
 *
 * node --import=tsx benchmarks/renewals.ts [--subscriptions 50000] [--shards 16384]
 */
import type { Address } from '../runtime/address.ts';
import type { Renewal } from '../runtime/events/publisher.ts';
import { Subscriptions } from '../runtime/events/subscriptions.ts';
import { silentLogger } from '../runtime/ports.ts';
import type { GatewayListener } from '../runtime/transport/transport.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { SeededRandom } from '../test/kit/random.ts';
import { printFigures } from './support/figures.ts';
import { numberOptions } from './support/options.ts';

const { subscriptions: count, shards: shardCount } = numberOptions({ subscriptions: 50_000, shards: 16_384 });
const host = 'host';
/** The most that a cut may delay the renewals for one host. */
const spreadMs = 1_000;

let questions = 0;
let renewed = 0;
async function ask({ request }: { readonly request: unknown }): Promise<Renewal> {
  questions += 1;
  renewed += (request as { actors: readonly Address[] }).actors.length;
  return { host, sequence: 0, lapsed: [] };
}

const clock = new FakeClock();
let listener: GatewayListener | undefined;
const subscriptions = new Subscriptions({
  transport: {
    ask,
    reachesOthers: true,
    listen: (_gateway, listening) => {
      listener = listening;
      return () => {};
    },
  },
  clock,
  random: new SeededRandom(1),
  logger: silentLogger,
  shardCount,
  gateway: 'gateway',
  metrics: { received() {}, gap() {}, repaired() {} },
  register: async () => host,
  event() {},
  repaired() {},
});
subscriptions.start();
for (let each = 0; each < count; each += 1) {
  const actor = { kind: 'user', id: `${each}` };
  subscriptions.add(actor);
  subscriptions.registered(actor, host);
}
const before = process.cpuUsage();
listener?.reconnected();
await clock.advance(spreadMs);
const { user, system } = process.cpuUsage(before);
if (renewed !== count) throw new Error(`${renewed} of ${count} subscriptions were renewed`);
printFigures(`${count} subscriptions over ${shardCount} shards`, {
  questions,
  'ms of CPU': (user + system) / 1_000,
});
process.exit(0);
