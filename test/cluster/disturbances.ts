/**
 * The disturbances of a cluster, each with a beginning and a repair. `harms` names the fenced writes that nodes may
 * count because of it. A node that was paused, or cut off from the database, beyond its lease may have its late
 * writes refused. No other disturbance may lead to that.
 *
 * `serves` says whether the rest of the cluster must serve everybody during the disturbance. If so, the time for that
 * counts from the beginning, otherwise from the repair.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../kit/random.ts';
import type { TcpProxy, Way } from '../kit/tcp-proxy.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

export interface Disturbance {
  readonly kind: DisturbanceKind;
  /** Its target. */
  readonly victim: string;
  readonly harms: 'nothing' | 'leases';
  readonly serves: boolean;
  readonly lastsMs: number;
  /** The node that it cuts off from the database alone: it holds up nobody but the users of that node. */
  readonly cutOff?: ClusterNode;
  begin(): Promise<unknown>;
  mend(): Promise<unknown>;
}

/** Chooses the details of one kind at random. */
type Maker = (cluster: Cluster, random: SeededRandom) => Omit<Disturbance, 'kind'>;
type NodeMaker = (
  node: ClusterNode,
  cluster: Cluster,
  random: SeededRandom,
) => Omit<Disturbance, 'kind' | 'victim'>;

const toNode =
  (make: NodeMaker): Maker =>
  (cluster, random) => {
    const node = random.pick(cluster.nodes);
    return { victim: node.id, ...make(node, cluster, random) };
  };

const nothing = async (): Promise<void> => {};

/** Between `from` and `to` times the length of a lease. */
function leases({ leaseMs }: Cluster, random: SeededRandom, from: number, to: number): number {
  return Math.round(leaseMs * (from + (to - from) * random.fraction()));
}

const inFlightMs = 300;

const both = ['to-server', 'to-client'] as const satisfies readonly Way[];

function awayFromNats(begin: (link: TcpProxy, way: Way) => void): Maker {
  return toNode(({ links }, cluster, random) => {
    const way = random.pick(both);
    return {
      harms: 'nothing',
      serves: false,
      lastsMs: leases(cluster, random, 0.5, 2),
      begin: async () => {
        for (const link of links.nats) begin(link, way);
      },
      mend: async () => {
        for (const link of links.nats) link.heal();
      },
    };
  });
}

function awayFromDatabase(fromLeases: number, begin: (link: TcpProxy) => void): Maker {
  return toNode((node, cluster, random) => ({
    harms: 'leases',
    serves: true,
    lastsMs: leases(cluster, random, fromLeases, 6),
    cutOff: node,
    begin: async () => begin(node.links.database),
    mend: async () => node.links.database.heal(),
  }));
}

function paused(from: number, to: number, serves: boolean): Maker {
  return toNode((node, cluster, random) => ({
    harms: 'leases',
    serves,
    lastsMs: leases(cluster, random, from, to),
    begin: async () => node.pause(),
    mend: async () => node.resume(),
  }));
}

/**
 * Its statements are in flight while it stands still, until another has taken over. Whatever then arrives is late,
 * and must be refused.
 */
const pausedAmidCommits = toNode((node, cluster, random) => ({
  harms: 'leases',
  // All users are served while it begins, which proves nothing about the take-over.
  serves: false,
  lastsMs: leases(cluster, random, 1.5, 2),
  begin: async () => {
    const { database } = node.links;
    // So that at any moment some have read their data and are sending their writes.
    database.slow(inFlightMs / 2);
    await pause(4 * inFlightMs);
    database.silence('to-server');
    await pause(inFlightMs);
    node.pause();
  },
  mend: async () => {
    node.links.database.heal();
    node.resume();
  },
}));

const slowLinks = toNode(({ links }, cluster, random) => ({
  harms: 'leases',
  serves: true,
  lastsMs: leases(cluster, random, 1, 2),
  begin: async () => {
    links.database.slow(20 + random.below(80));
    for (const link of links.nats) link.slow(20 + random.below(180));
  },
  mend: async () => {
    for (const link of [links.database, ...links.nats]) link.heal();
  },
}));

const killedNode = toNode((node, cluster, random) => ({
  harms: 'nothing',
  serves: true,
  lastsMs: leases(cluster, random, 1.2, 2),
  begin: () => node.kill(),
  mend: () => node.start(),
}));

/** Its supervisor lives on, and knows that it is dead. */
const killedServer = toNode((node, cluster, random) => ({
  harms: 'nothing',
  serves: true,
  lastsMs: leases(cluster, random, 0.2, 1),
  begin: () => node.killServer(),
  mend: () => node.start(),
}));

const killedNodeBackAtOnce = toNode((node) => ({
  harms: 'nothing',
  serves: true,
  lastsMs: 0,
  begin: () => node.kill().then(() => node.start()),
  mend: nothing,
}));

const drainedNode = toNode((node) => ({
  harms: 'nothing',
  serves: true,
  lastsMs: 500,
  begin: () => node.drain(),
  mend: () => node.start(),
}));

/** From one version to the other, back as well as forth. */
const upgradedNode = toNode((node, { builds }) => ({
  harms: 'nothing',
  serves: true,
  lastsMs: 0,
  begin: () => node.drain(),
  mend: () => node.start(node.build === builds.current ? builds.next : builds.current),
}));

const killedNats: Maker = (cluster, random) => {
  const index = random.below(cluster.nats.length);
  const server = cluster.nats[index];
  return {
    victim: `nats-${index + 1}`,
    harms: 'nothing',
    serves: true,
    lastsMs: leases(cluster, random, 0.5, 1.5),
    begin: async () => server?.kill(),
    mend: async () => server?.start(),
  };
};

const killedNatsCluster: Maker = (cluster, random) => ({
  victim: 'nats',
  harms: 'nothing',
  serves: false,
  lastsMs: leases(cluster, random, 0.2, 1.5),
  begin: () => Promise.all(cluster.nats.map((server) => server.kill())),
  mend: () => Promise.all(cluster.nats.map((server) => server.start())),
});

const restartedDatabase: Maker = (cluster, random) => ({
  victim: 'database',
  harms: 'leases',
  serves: false,
  lastsMs: leases(cluster, random, 0, 1.5),
  begin: () => cluster.database.kill(),
  mend: () => cluster.database.start(),
});

const makers = {
  'kill a node': killedNode,
  'kill a node, back at once': killedNodeBackAtOnce,
  'kill a server under its supervisor': killedServer,
  'pause a node beyond its lease': paused(1.5, 2.5, true),
  'pause a node for a moment': paused(0.1, 0.5, false),
  'pause a node amid its commits': pausedAmidCommits,
  'cut a node from NATS': awayFromNats((link) => link.cut()),
  'silence between a node and NATS': awayFromNats((link) => link.silence(...both)),
  'one-way loss between a node and NATS': awayFromNats((link, way) => link.silence(way)),
  'slow links of a node': slowLinks,
  'cut a node from the database': awayFromDatabase(0.5, (link) => link.cut()),
  'silence between a node and the database': awayFromDatabase(1, (link) => link.silence(...both)),
  'answers of the database lost to a node': awayFromDatabase(1, (link) => link.silence('to-client')),
  'kill a NATS server': killedNats,
  'kill all NATS servers': killedNatsCluster,
  'restart the database': restartedDatabase,
  'drain a node': drainedNode,
  'upgrade a node': upgradedNode,
} satisfies Record<string, Maker>;

export type DisturbanceKind = keyof typeof makers;
export const disturbanceKinds = Object.keys(makers) as readonly DisturbanceKind[];

export function disturbanceOf(kind: DisturbanceKind, cluster: Cluster, random: SeededRandom): Disturbance {
  return { kind, ...makers[kind](cluster, random) };
}
