/** Nodes, NATS servers and a PostgreSQL, each a process, with a proxy for every link of a node. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../kit/free-ports.ts';
import { startNatsCluster, type TestNatsServer } from '../kit/nats-server.ts';
import { TcpProxy } from '../kit/tcp-proxy.ts';
import type { Builds } from './build.ts';
import { Database } from './database.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  readonly builds: Builds;
  readonly nodes?: number;
  /** Absent: three in one cluster, with JetStream. */
  readonly nats?: readonly TestNatsServer[];
  /** How those three are started. */
  readonly startNats?: typeof startNatsCluster;
  /** Absent: a separate one that goes with the cluster. */
  readonly database?: Database;
  readonly leaseMs: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** A named directory is kept; otherwise a temporary one goes with the cluster. */
  readonly directory?: string;
}

export interface EndedByItself {
  readonly node: string;
  readonly code: number | null;
}

interface Parts {
  readonly database: Database;
  readonly nats: readonly TestNatsServer[];
  readonly directory: string;
}

const natsServers = 3;

/** All of them, or none: if one cannot start, the started ones are stopped again. */
async function partsOf(options: ClusterOptions): Promise<Parts> {
  const { startNats = startNatsCluster } = options;
  const [database, nats, directory] = await Promise.allSettled([
    options.database ?? Database.start(),
    options.nats ?? startNats(natsServers),
    options.directory ?? mkdtemp(join(tmpdir(), 'cluster-test-')),
  ]);
  if (database.status === 'fulfilled' && nats.status === 'fulfilled' && directory.status === 'fulfilled')
    return { database: database.value, nats: nats.value, directory: directory.value };
  if (database.status === 'fulfilled') await database.value.stop();
  if (nats.status === 'fulfilled') await Promise.all(nats.value.map((server) => server.stop()));
  if (directory.status === 'fulfilled' && options.directory === undefined)
    await rm(directory.value, { recursive: true, force: true });
  throw [database, nats, directory].flatMap((part) => (part.status === 'rejected' ? [part.reason] : []))[0];
}

export class Cluster {
  readonly leaseMs: number;
  readonly builds: Builds;
  readonly database: Database;
  readonly nats: readonly TestNatsServer[];
  readonly nodes: ClusterNode[] = [];
  /** Nodes that ended without being asked to. */
  readonly endedByThemselves: EndedByItself[] = [];
  readonly #options: ClusterOptions;
  readonly #directory: string;
  readonly #secretKey = randomBytes(32).toString('hex');

  private constructor(options: ClusterOptions, { database, nats, directory }: Parts) {
    this.leaseMs = options.leaseMs;
    this.builds = options.builds;
    this.database = database;
    this.nats = nats;
    this.#options = options;
    this.#directory = directory;
  }

  /** Starts everything and resolves when all nodes listen. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options, await partsOf(options));
    try {
      const ids = Array.from({ length: options.nodes ?? 3 }, (_, index) => `node-${index + 1}`);
      const nodes = await Promise.all(ids.map((id) => cluster.join(id)));
      await Promise.all(nodes.map((node) => node.start()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get gateways(): readonly string[] {
    return this.nodes.map(({ url }) => url);
  }

  /** One more node of this cluster, not started. Two may have the same id. */
  async join(id: string, settings: Readonly<Record<string, string>> = {}): Promise<ClusterNode> {
    const { database, nats } = this;
    // Fixed for the life of the node, because clients identify a gateway by its address.
    const [port = 0] = await freePorts(1);
    const links = {
      database: await TcpProxy.start(database.target),
      nats: await Promise.all(nats.map((server) => TcpProxy.start({ port: server.port }))),
    };
    const node = new ClusterNode({
      id,
      port,
      build: this.builds.current,
      dataDirectory: join(this.#directory, `${id}-${port}`),
      settings: {
        SECRET_KEY: this.#secretKey,
        LEASE_MS: String(this.leaseMs),
        DATABASE_URL: database.urlThrough(links.database.port),
        NATS_URL: links.nats.map((link) => `nats://127.0.0.1:${link.port}`).join(','),
        NATS_REPLICAS: String(nats.length),
        FILES_FOLDER: join(this.#directory, 'files'),
        FILES_FOLDER_SHARED: 'true',
        E2E_TESTING: 'true',
        // Interrupted sign-ins count as failed ones.
        MAX_LOGIN_ATTEMPTS: '1000',
        ...this.#options.settings,
        ...settings,
      },
      links,
      onEnd: (code) => this.endedByThemselves.push({ node: id, code }),
    });
    this.nodes.push(node);
    return node;
  }

  /** Tells that are committed and not yet consumed. */
  async pendingTells(): Promise<number> {
    const [row] = await this.database.query('SELECT count(*)::int AS pending FROM outbox');
    return Number(row?.['pending']);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    const proxies = this.nodes.flatMap(({ links }) => [links.database, ...links.nats]);
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await Promise.all(this.nats.map((server) => server.stop()));
    await this.database.stop();
    if (this.#options.directory === undefined) await rm(this.#directory, { recursive: true, force: true });
  }
}
