/** Three nodes, three NATS servers and a PostgreSQL, each a process, with a proxy for every link of a node. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../support/free-ports.ts';
import { startNatsCluster, type TestNatsServer } from '../support/nats-server.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import type { Builds } from './build.ts';
import { Database } from './database.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  readonly builds: Builds;
  readonly nodes?: number;
  readonly natsServers?: number;
  readonly leaseMs: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Kept where one is named; else a temporary one that goes with the cluster. */
  readonly directory?: string;
}

export interface EndedByItself {
  readonly node: string;
  readonly code: number | null;
}

export class Cluster {
  readonly leaseMs: number;
  readonly builds: Builds;
  readonly database: Database;
  readonly nats: readonly TestNatsServer[];
  readonly nodes: readonly ClusterNode[];
  /** Nodes that ended though nobody had asked them to. */
  readonly endedByThemselves: EndedByItself[] = [];
  readonly #directory: string;
  readonly #isTemporary: boolean;

  private constructor(
    { builds, leaseMs, directory: named }: ClusterOptions,
    parts: {
      directory: string;
      database: Database;
      nats: readonly TestNatsServer[];
      nodes: (onEnd: (node: ClusterNode, code: number | null) => void) => readonly ClusterNode[];
    },
  ) {
    this.leaseMs = leaseMs;
    this.builds = builds;
    this.database = parts.database;
    this.nats = parts.nats;
    this.#directory = parts.directory;
    this.#isTemporary = named === undefined;
    this.nodes = parts.nodes((node, code) => this.endedByThemselves.push({ node: node.id, code }));
  }

  /** Starts everything and resolves when all nodes are ready. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { nodes: count = 3, natsServers = 3 } = options;
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'cluster-test-')));
    const [database, nats] = await Promise.all([Database.start(), startNatsCluster(natsServers)]);
    // Fixed for the life of the cluster, as clients know a gateway by its address.
    const ports = await freePorts(count);
    const links = await Promise.all(ports.map(() => linksOf(database, nats)));
    const shared = sharedSettings(options);
    const cluster = new Cluster(options, {
      directory,
      database,
      nats,
      nodes: (onEnd) =>
        ports.map((port, index) => {
          const id = `node-${index + 1}`;
          const own = links[index] as Links;
          const settings = { ...shared, DATABASE_URL: own.databaseUrl, NATS_URL: own.natsUrl };
          const dataDirectory = join(directory, id);
          const { current: build } = options.builds;
          return new ClusterNode({ id, port, build, dataDirectory, settings, links: own, onEnd });
        }),
    });
    await Promise.all(cluster.nodes.map((node) => node.start()));
    return cluster;
  }

  get gateways(): readonly string[] {
    return this.nodes.map(({ url }) => url);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) node.resume();
    await Promise.all(this.nodes.map((node) => node.kill()));
    const proxies = this.nodes.flatMap(({ links }) => [links.database, ...links.nats]);
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    for (const server of this.nats) server.resume();
    await Promise.all(this.nats.map((server) => server.stop()));
    await this.database.stop();
    if (this.#isTemporary) await rm(this.#directory, { recursive: true, force: true });
  }
}

function sharedSettings({ leaseMs, settings, natsServers = 3 }: ClusterOptions) {
  return {
    SECRET_KEY: randomBytes(32).toString('hex'),
    LEASE_MS: String(leaseMs),
    NATS_REPLICAS: String(natsServers),
    E2E_TESTING: 'true',
    // Sign-ins that are cut off count as failed ones.
    MAX_LOGIN_ATTEMPTS: '1000',
    ...settings,
  };
}

interface Links {
  readonly database: TcpProxy;
  readonly nats: readonly TcpProxy[];
  readonly databaseUrl: string;
  readonly natsUrl: string;
}

async function linksOf(database: Database, servers: readonly TestNatsServer[]): Promise<Links> {
  const toDatabase = await TcpProxy.start(database.target);
  const nats = await Promise.all(servers.map(({ port }) => TcpProxy.start({ port })));
  return {
    database: toDatabase,
    nats,
    databaseUrl: database.urlThrough(toDatabase.port),
    natsUrl: nats.map(({ port }) => `nats://127.0.0.1:${port}`).join(','),
  };
}
