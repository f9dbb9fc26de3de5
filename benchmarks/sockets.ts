/**
 * Idle sockets by the thousand, each of another user unless `--users` limits them. It measures their cost in memory, CPU, database
 * and NATS, the delay until a device hears of a save, and a killed node. One NATS server and one PostgreSQL (fsync on) run on this
 * machine. So do the clients, which makes times rough unless the machine has cores to spare.
 *
 * npm run build && node --import=tsx benchmarks/sockets.ts [--sockets 1000,10000,19000] [--users 1000] [--lane]
 * [--nodes 1] [--idle 60] [--pings] [--at-once] [--drain] [--kill-gateways 1] [--settle 80]
 *
 * With several nodes, sockets are opened at all but the last one, and that one is killed: the others take over its
 * users. With one node, that one is killed, and all of its sockets are dialled again. `--at-once` measures while the
 * users' actors are in memory still, and does not wait until they have left it. With `--drain` the first node, which
 * has sockets, is asked to stop instead, and its clients dial at the others. With `--kill-gateways 1` the first node is
 * killed and started again instead, and its clients dial there and at the others. A node may have as many sockets as open files
 * (`ulimit -n`).
 */
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Exposition, parseExposition } from '../load-tests/report/exposition.ts';
import { Cluster } from '../test/cluster/cluster.ts';
import { Database } from '../test/cluster/database.ts';
import type { ClusterNode } from '../test/cluster/node.ts';
import { startNatsServer } from '../test/kit/nats-server.ts';
import type { ClientDevice } from './sockets/client-process.ts';
import { Clients } from './sockets/clients.ts';
import { droppedHandshakes, kernelBytes } from './sockets/kernel.ts';
import { type Account, newItem, register, signIn } from './support/api-client.ts';
import { someAtOnce } from './support/at-once.ts';
import { median, printFigures, quantile } from './support/figures.ts';
import { RawClient } from './support/raw-client.ts';
import { syncBytes } from './support/requests.ts';
import { openSocket } from './support/socket.ts';
import { SteadyLoad, summary, syncFigures } from './support/steady-load.ts';

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000,10000,19000' },
    users: { type: 'string' },
    lane: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '1' },
    idle: { type: 'string', default: '60' },
    'at-once': { type: 'boolean', default: false },
    drain: { type: 'boolean', default: false },
    settle: { type: 'string', default: '80' },
    'kill-gateways': { type: 'string', default: '0' },
    pings: { type: 'boolean', default: false },
  },
});
const levels = values.sockets.split(',').map(Number);
const nodeCount = Number(values.nodes);
const killedGateways = Number(values['kill-gateways']);
const idleMs = Number(values.idle) * 1_000;

const dist = new URL('../dist', import.meta.url).pathname;
const leaseMs = 10_000;
const password = 'a'.repeat(64);
const registeredAtOnce = 8;
const openMs = 600_000;
const calmMs = 5_000;
/** A thousand syncs, so that their p99 means something. */
const usualMs = 20_000;
/** V8 collects the garbage of a burst for more than a minute. Only figures at idle need that. */
const settledMs = Number(values.settle) * 1_000;
/** Until all clients send `PING`. */
const pingingMs = 30_000;
/** PostgreSQL publishes the counts of a connection a second after it becomes idle. */
const statisticsDelayMs = 1_500;
/** Actors leave memory after five minutes without work. */
const passiveMs = 420_000;
/** Besides the measured ones: actors of the server's own. */
const activeMax = 50;
const saves = 200;
const saveEveryMs = 100;
const syncsPerSecond = 50;
const withoutLimits = {
  RATE_LIMIT_PUBLIC: '0',
  RATE_LIMIT_SESSION: '0',
  RATE_LIMIT_REGISTRATION: '0',
  SYNC_LANE_SOCKETS_PER_USER: '64',
};

const [database, nats] = await Promise.all([Database.start(), startNatsServer()]);
// Bypasses the proxies by which tests cut links: they would share this process.
const settings = { DATABASE_URL: database.url, NATS_URL: nats.url, LOG_LEVEL: 'warn', ...withoutLimits };
const builds = { current: dist, next: dist };
const cluster = await Cluster.start({
  builds,
  nodes: nodeCount,
  database,
  nats: [nats],
  leaseMs,
  settings,
});
const gateways = nodeCount === 1 ? cluster.nodes : cluster.nodes.slice(0, -1);
const clients = new Clients(values.lane);
const raw = new RawClient(gateways[0]?.url ?? '');

async function expositions(): Promise<readonly Exposition[]> {
  const texts = cluster.nodes.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text());
  return (await Promise.all(texts)).map(parseExposition);
}

const sumOf = (all: readonly Exposition[], name: string): number =>
  all.reduce((sum, one) => sum + (one.get(name) ?? 0), 0);

const total = async (name: string): Promise<number> => sumOf(await expositions(), name);

/** The questions to the database, in transactions: every statement of ours is one, or part of one. */
async function transactions(): Promise<number> {
  await pause(statisticsDelayMs);
  const [row] = await database.query(
    'SELECT sum(xact_commit + xact_rollback) AS count FROM pg_stat_database',
  );
  return Number(row?.['count']);
}

interface Spent {
  readonly transactions: number;
  readonly all: readonly Exposition[];
}

const spentSoFar = async (): Promise<Spent> => ({
  transactions: await transactions(),
  all: await expositions(),
});

function grown(from: Spent, to: Spent, seconds: number): Record<string, number> {
  const by = (name: string) => sumOf(to.all, name) - sumOf(from.all, name);
  return {
    'CPU, % of a core': (by('process_cpu_seconds_total') / seconds) * 100,
    'transactions of the database, /s': (to.transactions - from.transactions) / seconds,
    'frames over NATS, /s': by('scriptorium_transport_frames_total') / seconds,
    'turns and shared reads, /s': by('scriptorium_turns_total') / seconds,
    activations: by('scriptorium_activations_total'),
  };
}

async function idleFigures(): Promise<Record<string, number>> {
  const before = await spentSoFar();
  await pause(idleMs);
  return grown(before, await spentSoFar(), idleMs / 1_000);
}

/** Until users who only hold sockets have left memory. */
async function passivated(): Promise<void> {
  await pause(settledMs);
  if (values['at-once']) return;
  const untilMs = performance.now() + passiveMs;
  while ((await total('actors')) > activeMax) {
    if (performance.now() > untilMs) throw new Error(`${await total('actors')} actors stay in memory`);
    await pause(calmMs);
  }
}

interface Memory {
  readonly sockets: number;
  readonly processBytes: number;
  readonly heapBytes: number;
  readonly kernelBytes: number;
}

async function memoryNow(): Promise<Memory> {
  const all = await expositions();
  return {
    sockets: clients.count,
    processBytes: sumOf(all, 'process_resident_memory_bytes'),
    heapBytes: sumOf(all, 'nodejs_heap_size_used_bytes'),
    // Both ends are on this machine.
    kernelBytes: kernelBytes() / 2,
  };
}

function slopes(from: Memory, to: Memory): Record<string, number> {
  const each = (of: Exclude<keyof Memory, 'sockets'>) => (to[of] - from[of]) / (to.sockets - from.sockets);
  return {
    'process, bytes for each socket': each('processBytes'),
    'process, MB at none by this slope': (to.processBytes - each('processBytes') * to.sockets) / 1e6,
    'of that heap in use, bytes for each socket': each('heapBytes'),
    'kernel, bytes for each socket': each('kernelBytes'),
  };
}

/** From a save to the frame at the other device. */
async function noticeFigures([phone, laptop]: readonly [Account, Account]): Promise<Record<string, number>> {
  const url = gateways[0]?.url ?? '';
  const elsewhere = gateways.at(-1)?.url ?? url;
  const tookMs: number[] = [];
  let heard = () => {};
  const socket = await openSocket(elsewhere, laptop, (text) => {
    if (text.includes('ITEMS_CHANGED_ON_SERVER')) heard();
  });
  for (let save = 0; save < saves; save += 1) {
    const beganMs = performance.now();
    const notice = new Promise<void>((resolve) => {
      heard = resolve;
    });
    await raw.send(syncBytes(url, phone, { items: [newItem()], limit: 1 }));
    await Promise.race([notice, pause(saveEveryMs * 50)]);
    const tookNowMs = performance.now() - beganMs;
    tookMs.push(tookNowMs);
    await pause(Math.max(0, saveEveryMs - tookNowMs));
  }
  socket.close();
  return {
    'save to notice, p50 ms': median(tookMs),
    'save to notice, p99 ms': quantile(tookMs, 0.99),
  };
}

/** Saves and syncs of these users at the last of the gateways, which may be the only one. */
const syncsOf = (accounts: readonly Account[]): SteadyLoad =>
  new SteadyLoad({
    ratePerSecond: syncsPerSecond,
    request: async (index) => {
      const account = accounts[index % accounts.length] as Account;
      const items = index % 2 === 0 ? [newItem()] : [];
      return (await raw.send(syncBytes(gateways.at(-1)?.url ?? '', account, { items, limit: 1 }))).status;
    },
  });

const triedAgain = (failures: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(failures).map(([what, times]) => [`tried again: ${what}`, times]));

interface Cpu {
  readonly serversMs: number;
  readonly clientsMs: number;
  /** The CPU time of the whole machine, including the kernel. */
  readonly machineMs: number;
}

async function cpuSoFar(): Promise<Cpu> {
  const machineMs = cpus().reduce((sum, { times }) => {
    return sum + times.user + times.nice + times.sys + times.irq;
  }, 0);
  const serversMs = (await total('process_cpu_seconds_total')) * 1_000;
  return { serversMs, clientsMs: (await clients.report()).cpuMs, machineMs };
}

function cpuFigures(from: Cpu, to: Cpu, sockets: number): Record<string, number> {
  const micros = (of: keyof Cpu) => ((to[of] - from[of]) * 1_000) / sockets;
  return {
    'CPU of the servers, µs a socket': micros('serversMs'),
    'CPU of the clients, µs a socket': micros('clientsMs'),
    'CPU of the whole machine, µs a socket': micros('machineMs'),
  };
}

/** Kills nodes with sockets and starts them again. Resolves once all sockets are open, there or elsewhere. */
async function redialFigures(others: readonly Account[]): Promise<Record<string, number>> {
  const killed = gateways.slice(0, nodeCount === 1 ? 1 : killedGateways);
  const syncs = syncsOf(others);
  await pause(usualMs);
  const droppedBefore = droppedHandshakes();
  const beganMs = syncs.nowMs;
  await Promise.all(killed.map((node) => node.kill()));
  // Exact where all sockets are at killed nodes. Clients notice the end of theirs only later.
  const lost = Math.round((clients.count * killed.length) / gateways.length);
  await Promise.all(killed.map((node) => node.start()));
  const listeningMs = syncs.nowMs;
  const cpuBefore = await cpuSoFar();
  await clients.untilOpen(openMs);
  const openAgainMs = syncs.nowMs;
  const cpu = cpuFigures(cpuBefore, await cpuSoFar(), lost);
  const dropped = droppedHandshakes() - droppedBefore;
  const { failures } = await clients.report();
  await pause(calmMs);
  await syncs.stop();
  const usual = summary(syncs.samples, 1_000, beganMs - 100);
  const during = summary(syncs.samples, listeningMs, openAgainMs);
  const slow = syncs.samples.filter(
    ({ startedMs, durationMs }) => startedMs >= listeningMs && startedMs < openAgainMs && durationMs >= 200,
  );
  return {
    'ms until the processes listened again': listeningMs - beganMs,
    'ms until every socket was open': openAgainMs - listeningMs,
    'sockets that were lost': lost,
    ...cpu,
    'handshakes dropped by the kernel': dropped,
    ...triedAgain(failures),
    ...syncFigures(usual, during),
    'syncs meanwhile of 200 ms or more': slow.length,
    'of these the last began after, ms': (slow.at(-1)?.startedMs ?? Number.NaN) - listeningMs,
    'syncs meanwhile': during.requests,
    'syncs meanwhile, failed': during.failed,
  };
}

/** Kills the node without sockets. Resolves once the others have taken over its users. */
async function killFigures(others: readonly Account[]): Promise<Record<string, number>> {
  const syncs = syncsOf(others);
  await pause(calmMs);
  const before = await spentSoFar();
  const framesBefore = await framesOfStaying();
  const beganMs = syncs.nowMs;
  await cluster.nodes.at(-1)?.kill();
  const killedMs = syncs.nowMs;
  const repairedMs = await untilRepaired();
  const allMs = syncs.nowMs;
  const frames = (await framesOfStaying()) - framesBefore;
  const after = await transactions();
  await pause(calmMs);
  await syncs.stop();
  const usual = summary(syncs.samples, 1_000, beganMs - 100);
  const during = summary(syncs.samples, killedMs, allMs);
  return {
    'ms until every socket was registered': allMs - killedMs,
    'of that from the first registration to wait to the last, ms': repairedMs,
    'frames over NATS meanwhile': frames,
    'transactions of the database meanwhile': after - before.transactions,
    'syncs before, p99 ms': usual.p99Ms,
    'syncs meanwhile, p99 ms': during.p99Ms,
    'syncs meanwhile, failed': during.failed,
  };
}

/** Asks a node to stop. Resolves once all of its sockets are open at another. */
async function drainFigures(): Promise<Record<string, number>> {
  await pause(calmMs);
  const beganMs = performance.now();
  await cluster.nodes[0]?.drain();
  const stoppedMs = performance.now() - beganMs;
  await clients.untilOpen(openMs);
  const allMs = performance.now() - beganMs;
  const { redialsMs: waits, failures } = await clients.report();
  return {
    'ms until the process had stopped': stoppedMs,
    'ms until every socket was open elsewhere': allMs,
    'sockets that dialled again': waits.length,
    'from the end of a socket to the next, p50 ms': median(waits),
    'from the end of a socket to the next, p99 ms': quantile(waits, 0.99),
    'from the end of a socket to the next, most ms': quantile(waits, 1),
    ...triedAgain(failures),
  };
}

/** All nodes but the one that is killed. */
async function framesOfStaying(): Promise<number> {
  const texts = cluster.nodes
    .slice(0, -1)
    .map(async ({ metricsUrl }) => parseExposition(await (await fetch(metricsUrl)).text()));
  return sumOf(await Promise.all(texts), 'scriptorium_transport_frames_total');
}

/** The shards have owners, and no registration is waiting. Resolves to how long registrations waited. */
async function untilRepaired(): Promise<number> {
  const staying = cluster.nodes.slice(0, -1);
  const sum = async (name: string) => {
    const each = await Promise.all(staying.map(async (node) => (await node.metric(name)) ?? Number.NaN));
    return each.reduce((total, value) => total + value, 0);
  };
  const untilMs = performance.now() + openMs;
  let waitedSinceMs: number | undefined;
  for (;;) {
    const [shards, waiting] = await Promise.all([
      sum('scriptorium_shards'),
      sum('scriptorium_socket_repairs_waiting'),
    ]);
    if (waiting > 0) waitedSinceMs ??= performance.now();
    if (shards === 1_024 && waiting === 0) return performance.now() - (waitedSinceMs ?? Number.NaN);
    if (performance.now() > untilMs) throw new Error(`${shards} shards, ${waiting} waiting`);
    await pause(50);
  }
}

/** A load balancer spreads the clients of a gateway over all others. */
function addressesOf(index: number): Pick<ClientDevice, 'url' | 'elsewhere'> {
  const { url } = gateways[index % gateways.length] as ClusterNode;
  const others = gateways.filter((gateway) => gateway.url !== url);
  const other = others[Math.floor(index / gateways.length) % Math.max(1, others.length)];
  return { url, elsewhere: other?.url ?? url };
}

async function measure(): Promise<void> {
  const most = Math.max(...levels);
  const url = gateways[0]?.url ?? '';
  const beganMs = performance.now();
  // All have one password, which is hashed once.
  const users = Math.min(most, Number(values.users ?? most));
  const accounts = await someAtOnce(users, registeredAtOnce, () => register(url, undefined, password));
  const others = accounts.slice(0, 20);
  const phone = await register(url, undefined, password);
  const pair = [phone, await signIn(url, phone)] as const;
  printFigures('seeding', { users, seconds: (performance.now() - beganMs) / 1_000 });
  // Restarted, because registering has grown the processes by more than the sockets will.
  for (const node of cluster.nodes) await node.kill();
  await Promise.all(cluster.nodes.map((node) => node.start()));
  await pause(settledMs);
  printFigures('without sockets', await idleFigures());
  const devices = Array.from(
    { length: most },
    (_, index): ClientDevice => ({
      ...addressesOf(index),
      accessToken: accounts[index % users]?.accessToken ?? '',
    }),
  );
  let last = await memoryNow();
  for (const level of levels) {
    const openedMs = performance.now();
    await clients.open(devices.slice(clients.count, level), openMs);
    const tookMs = performance.now() - openedMs;
    await passivated();
    const now = await memoryNow();
    printFigures(`${level} sockets${values.lane ? ' of the lane' : ''}`, {
      'ms to open the further ones': tookMs,
      'process, MB': now.processBytes / 1e6,
      ...slopes(last, now),
      ...(await idleFigures()),
      ...(await noticeFigures(pair)),
    });
    last = now;
  }
  if (values.lane && values.pings) {
    clients.ping();
    await pause(pingingMs);
    printFigures('the same while each client sends PING every half a minute', await idleFigures());
  }
  if (values.drain) {
    printFigures('a node with sockets is asked to stop', await drainFigures());
    return;
  }
  if (nodeCount === 1 || killedGateways > 0) {
    printFigures('processes with sockets are killed', await redialFigures(others));
    return;
  }
  printFigures('a node without sockets is killed', await killFigures(others));
}

try {
  await measure();
} finally {
  clients.stop();
  raw.close();
  await cluster.stop();
}
process.exit(0);
