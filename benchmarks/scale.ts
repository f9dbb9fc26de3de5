/**
 * Three hundred hosts and a million users on two cores. Some figures are calculated from the functions and constants
 * that hosts use. Those that depend on the database are measured on a real one (fsync on) with all of their rows.
 *
 * npx tsx benchmarks/scale.ts [--hosts 300] [--sockets 1000000] [--lease 10000] [--events 3333] [--calculated]
 *
 * `--events`: what actors publish in a second, to one gateway each; 3,333 are a million users who save every five
 * minutes. `--calculated`: only the calculated figures.
 */
import { parseArgs } from 'node:util';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { beats, heartbeatMs } from '../runtime/events/publisher.ts';
import { dueMaxMs } from '../runtime/events/subscriptions.ts';
import { defaultLimits } from '../runtime/host/limits.ts';
import { reconciliationSpreadMs, searchersMax } from '../runtime/ownership/ownership.ts';
import { announceEveryMs } from '../runtime/ownership/peers.ts';
import { placementOf, shardCountFor } from '../runtime/ownership/placement.ts';
import { openPostgresStore } from '../runtime/store/postgres/store.ts';
import type { NodeRow, Store } from '../runtime/store/store.ts';
import { withDatabase } from './support/database.ts';
import { median, medianMs, printFigures } from './support/figures.ts';

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '300' },
    sockets: { type: 'string', default: '1000000' },
    lease: { type: 'string', default: '10000' },
    events: { type: 'string', default: '3333' },
    calculated: { type: 'boolean', default: false },
  },
});
const hostCount = Number(values.hosts);
const sockets = Number(values.sockets);
const leaseMs = Number(values.lease);
const eventsPerSecond = Number(values.events);
const shardCount = shardCountFor(hostCount);
const hosts = Array.from({ length: hostCount }, (_, at) => `host-${at}`);
const allShards = Array.from({ length: shardCount }, (_, shard) => shard);
/** Concurrent claims and other questions of hosts: as many as a small database serves. */
const connections = 16;
const repeats = 15;
/** Renewals are spread over the last fifth of the time after which they are due. */
const duePartMean = 0.9;

/** The shards of each host. */
function shares(count: number): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>(hosts.map((host) => [host, []]));
  placementOf(hosts, count).forEach((host, shard) => {
    if (host !== undefined) found.get(host)?.push(shard);
  });
  return found;
}

function printShares(count: number): void {
  const counts = [...shares(count).values()].map(({ length }) => length);
  printFigures(`${count} shards over ${hostCount} hosts`, {
    'least of a host': Math.min(...counts),
    'mean of a host': count / hostCount,
    'most of a host': Math.max(...counts),
  });
}

/** One question for each shard of a gateway's users, in every period. */
function renewalsPerSecond(): number {
  const ofGateway = sockets / hostCount;
  const subscribed = shardCount * (1 - (1 - 1 / shardCount) ** ofGateway);
  return (hostCount * subscribed * 1_000) / (dueMaxMs * duePartMean);
}

/** Every host is a gateway, too. */
const pairs = hostCount * hostCount;

/** After each event come heartbeats until the next event of the pair. Half a tick passes before the first. */
function heartbeatsPerSecond(): number {
  const ofPairPerMs = eventsPerSecond / pairs / 1_000;
  const following = beats.map((beat) => Math.exp(-ofPairPerMs * (beat - 0.5) * heartbeatMs));
  return eventsPerSecond * following.reduce((sum, chance) => sum + chance, 0);
}

function printMessages(): void {
  printFigures('messages between hosts and gateways', {
    'heartbeats/s': heartbeatsPerSecond(),
    '… had each host sent one to each gateway every ten seconds': (pairs * 1_000) / heartbeatMs,
    '… the most that so many events can cause': eventsPerSecond * beats.length,
    'deliveries/s of hints that a host is there': (pairs * 1_000) / announceEveryMs(hostCount - 1, leaseMs),
    '… at every half lease': (pairs * 2_000) / leaseMs,
  });
}

/** All hosts hear of a joining host. Those that have a shard for it reconcile by three statements each, as it does. */
function printJoin(): void {
  const after = placementOf([...hosts, 'joining'], shardCount);
  const givers = new Set(placementOf(hosts, shardCount).filter((_, shard) => after[shard] === 'joining'));
  const spreadMs = reconciliationSpreadMs(hostCount);
  const statements = 3 * (givers.size + 1);
  printFigures('one host joins', {
    'hosts that have a shard for it': givers.size,
    statements,
    '… had all hosts reconciled': 3 * (hostCount + 1),
    'seconds within which they come': spreadMs / 1_000,
    'statements/s meanwhile': (statements * 1_000) / spreadMs,
  });
}

async function timedMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const nodeOf = (id: string): NodeRow => ({
  id,
  incarnation: `${id}-1`,
  address: 'machine',
  roles: 'all',
  version: '0',
  formats: '1',
});

/** All hosts start at once: each registers and claims its share. */
async function startAll(store: Store): Promise<Record<string, number>> {
  const waits: number[] = [];
  const registrationMs = await timedMs(() =>
    Promise.all(hosts.map((host) => store.register(nodeOf(host), 3_600_000))),
  );
  const claims = [...shares(shardCount)].map(async ([host, shards]) => {
    const startedMs = performance.now();
    const { shards: claimed } = await store.claim(host, `${host}-1`, shards);
    waits.push(performance.now() - startedMs);
    if (claimed.length !== shards.length)
      throw new Error(`${host} got ${claimed.length} of ${shards.length}`);
  });
  const claimedMs = await timedMs(() => Promise.all(claims));
  return {
    'ms until all are registered': registrationMs,
    'ms until all shards are claimed': claimedMs,
    '… of a host, median': median(waits),
    '… of a host, longest': Math.max(...waits),
    'shards without an owner': (await store.freeShards(allShards)).length,
  };
}

interface Load {
  readonly what: string;
  readonly perSecond: number;
  readonly statements: number;
  readonly ms: number;
}

/** The work of idle hosts. */
async function idleLoads(store: Store): Promise<readonly Load[]> {
  const [host = '', shards = []] = [...shares(shardCount)][0] ?? [];
  const elsewhere = allShards.filter((shard) => !shards.includes(shard));
  const perLease = (times: number) => (times * 1_000) / leaseMs;
  const sweep = { shards, fromMs: 0, untilMs: 1e15, limit: 128, share: 2 };
  const { sweepMs, housekeepingMs } = defaultLimits;
  return [
    {
      what: 'renewals of leases',
      perSecond: perLease(3 * hostCount),
      statements: 1,
      ms: await medianMs(repeats, () => store.renew(host, `${host}-1`, 3_600_000)),
    },
    {
      what: 'reconciliations',
      perSecond: perLease(4 * hostCount),
      statements: 3,
      ms: await medianMs(repeats, async () => {
        await store.expireNodes();
        await store.nodes();
        await store.shardsOf(`${host}-1`);
      }),
    },
    {
      what: 'searches for what is free elsewhere',
      perSecond: perLease(2 * Math.min(hostCount, searchersMax)),
      statements: 1,
      ms: await medianMs(repeats, () => store.freeShards(elsewhere)),
    },
    {
      what: 'sweeps for timers and for tells',
      perSecond: (hostCount * 1_000) / sweepMs,
      statements: 4,
      ms: await medianMs(repeats, async () => {
        await store.timeMs();
        await store.dueTimers(sweep);
        await store.timeMs();
        await store.pendingTells(sweep);
      }),
    },
    {
      what: 'housekeeping',
      perSecond: (hostCount * 1_000) / housekeepingMs,
      statements: 4,
      ms: await medianMs(repeats, async () => {
        await store.timeMs();
        await store.pruneCalls(shards, 0, 1_000);
        await store.removeEnded(shards, 0, 1_000);
        await store.removeNodes(0);
      }),
    },
  ];
}

function printLoads(loads: readonly Load[]): void {
  const sum = (of: (load: Load) => number) => loads.reduce((total, load) => total + of(load), 0);
  for (const { what, perSecond, statements, ms } of loads)
    printFigures(what, {
      '/s of all hosts': perSecond,
      'statements/s': perSecond * statements,
      'ms of one': ms,
      'connections busy': (perSecond * ms) / 1_000,
    });
  printFigures('all of it', {
    'statements/s': sum(({ perSecond, statements }) => perSecond * statements),
    'connections busy': sum(({ perSecond, ms }) => (perSecond * ms) / 1_000),
    [`… had each host searched twice a lease`]:
      sum(({ perSecond, ms }) => (perSecond * ms) / 1_000) + extraSearches(loads),
  });
}

function extraSearches(loads: readonly Load[]): number {
  const search = loads.find(({ what }) => what.startsWith('searches'));
  if (search === undefined) return 0;
  return (((2 * hostCount * 1_000) / leaseMs - search.perSecond) * search.ms) / 1_000;
}

async function measure(connection: EmbeddedConnection): Promise<void> {
  const store = await openPostgresStore({
    connection,
    sizes: { ownership: connections, leases: connections },
    queueMax: 2 * hostCount,
    waitMaxMs: 60_000,
  });
  printFigures(`${hostCount} hosts start at once, over ${connections} connections`, await startAll(store));
  printLoads(await idleLoads(store));
  await store.close();
}

for (const count of [1_024, shardCount]) printShares(count);
printFigures(`${sockets} sockets at ${hostCount} gateways`, {
  'questions/s by which they are renewed': renewalsPerSecond(),
  '… statements/s that come of them': 0,
});
printMessages();
printJoin();
if (!values.calculated) await withDatabase([], measure);
process.exit(0);
