/**
 * The figures of a cluster: three nodes, one NATS server and one PostgreSQL (fsync on) as processes of this machine.
 *
 * node --import=tsx benchmarks/cluster.ts [--runs 1] [--lease-ms 10000] [--only
 * hand-over,crash,take-over,cut-off,hosts,push,bans,vault-syncs]
 *
 * Everything shares the machine's cores, the load generator too. So the figures show the cost of moving shards, but
 * not the gain from more machines.
 */
import { parseArgs } from 'node:util';
import { buildTwice } from '../test/cluster/build.ts';
import { Cluster } from '../test/cluster/cluster.ts';
import { Database } from '../test/cluster/database.ts';
import { startNatsServer } from '../test/kit/nats-server.ts';
import { adminEmail, bans } from './cluster/bans.ts';
import { syncsDuringCut } from './cluster/cut-off.ts';
import { throughput } from './cluster/hosts.ts';
import { crashTakeOver, plannedHandOver } from './cluster/moves.ts';
import { machineTakeOver, processTakeOver } from './cluster/take-over.ts';
import { pushOver } from './scenarios/push.ts';
import { syncsInVaults } from './scenarios/vault-syncs.ts';
import { medians, printFigures } from './support/figures.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    'lease-ms': { type: 'string', default: '10000' },
    only: { type: 'string' },
  },
});
const selected = values.only?.split(',') ?? [
  'hand-over',
  'crash',
  'take-over',
  'cut-off',
  'hosts',
  'push',
  'bans',
  'vault-syncs',
];
const builds = await buildTwice('load');

async function measure(
  title: string,
  nodes: number,
  scenario: (cluster: Cluster) => Promise<Record<string, number>>,
  { cutsLinks = false } = {},
): Promise<void> {
  const figures = await medians(Number(values.runs), async () => {
    const leaseMs = Number(values['lease-ms']);
    const [database, nats] = await Promise.all([Database.start(), startNatsServer()]);
    // Bypasses the proxies that cut links unless they are needed: they share this process with the load.
    const bypass = cutsLinks ? {} : { DATABASE_URL: database.url, NATS_URL: nats.url };
    const settings = { ...bypass, ADMIN_EMAILS: adminEmail };
    const cluster = await Cluster.start({ builds, nodes, database, nats: [nats], leaseMs, settings });
    try {
      return await scenario(cluster);
    } finally {
      await cluster.stop();
    }
  });
  printFigures(title, figures);
}

if (selected.includes('hand-over'))
  await measure('a planned hand-over: one of three nodes is drained', 3, plannedHandOver);
if (selected.includes('crash')) await measure('a crash: one of three nodes is killed', 3, crashTakeOver);
if (selected.includes('take-over')) {
  await measure('a process is killed, and its supervisor lives', 3, processTakeOver);
  await measure('a machine is lost, supervisor and all', 3, machineTakeOver);
}
if (selected.includes('cut-off'))
  await measure('a node is cut off from the database, not from NATS', 3, syncsDuringCut, { cutsLinks: true });
if (selected.includes('hosts')) {
  for (const nodes of [1, 2, 3]) await measure(`throughput with ${nodes} of role "all"`, nodes, throughput);
}
if (selected.includes('push'))
  await measure('pushes over two nodes', 2, ({ gateways }) => pushOver(gateways));
if (selected.includes('bans')) await measure('bans over three nodes', 3, bans);
if (selected.includes('vault-syncs'))
  await measure('syncs in vaults over three nodes', 3, ({ gateways: [gateway = ''] }) =>
    syncsInVaults(gateway),
  );
process.exit(0);
