/** Servers on this machine, for runs that name none: one process, or three nodes over NATS and one PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Builds } from '../test/cluster/build.ts';
import { Cluster } from '../test/cluster/cluster.ts';
import { Database } from '../test/cluster/database.ts';
import { startNatsServer } from '../test/kit/nats-server.ts';
import { startServerProcess } from '../test/kit/server-process.ts';

export interface Servers {
  readonly urls: readonly string[];
  readonly metricsUrls: readonly string[];
  /** One node stops as under an orchestrator, and comes back. */
  handOver(): Promise<void>;
  stop(): Promise<void>;
}

const settings = { LOG_LEVEL: 'warn', E2E_TESTING: 'true' };
const leaseMs = 5_000;
const awayMs = 2_000;

/** Uses a new database unless one is given. */
export async function startOneProcess({ current }: Builds, databaseUrl?: string): Promise<Servers> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'scriptorium-load-'));
  const entry = [join(current, 'main.js')];
  const database = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
  const { child, exitCode, ready } = startServerProcess({
    entry,
    dataDirectory,
    settings: { ...settings, ...database },
  });
  const { url, metricsUrl } = await ready();
  return {
    urls: [url],
    metricsUrls: [metricsUrl],
    handOver: () => Promise.reject(new Error('One process has nobody to hand over to: --nodes 3.')),
    async stop() {
      child.kill('SIGTERM');
      await exitCode;
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Clients are on two gateways; the third node is the one that leaves. */
export async function startThreeNodes(builds: Builds): Promise<Servers> {
  const [database, nats] = await Promise.all([Database.start(), startNatsServer()]);
  // Bypasses the proxies by which tests cut links: they would share this process.
  const addresses = { DATABASE_URL: database.url, NATS_URL: nats.url };
  const cluster = await Cluster.start({
    builds,
    nodes: 3,
    database,
    nats: [nats],
    leaseMs,
    settings: { ...settings, ...addresses },
  });
  const leaving = cluster.nodes.at(-1);
  const staying = cluster.nodes.slice(0, -1);
  return {
    urls: staying.map(({ url }) => url),
    metricsUrls: staying.map(({ metricsUrl }) => metricsUrl),
    async handOver() {
      await leaving?.drain();
      await pause(awayMs);
      await leaving?.start();
    },
    stop: () => cluster.stop(),
  };
}
