/**
 * What the status page shows: the cluster as the database has it, and this process as its metrics have it. A part that
 * cannot be read is absent, because the page is needed most when something is down.
 */
import type { Registry } from 'prom-client';
import { mailerId } from '../../actors/mailer/contract.ts';
import { MailAdministration } from '../../actors/mailer/operator-contract.ts';
import type { Node } from '../../proto/generated/scriptorium/v1/cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Actors, unlessAbsent } from '../../runtime/handles.ts';
import type { ClusterOperations } from '../../runtime/operations.ts';
import type { Readiness } from '../../runtime/readiness.ts';
import { nodesOf } from '../nodes.ts';
import { type MetricValues, metricValuesOf } from './metric-values.ts';

type Backlog = Awaited<ReturnType<ClusterOperations['backlog']>>;

interface DeadMail {
  readonly id: string;
  readonly attempts: number;
  readonly lastFailure: string | null;
}

export interface ClusterStatus {
  readonly nowMs: number;
  /** The name of the node that answers. */
  readonly node: string;
  readonly version: string;
  readonly readiness: Awaited<ReturnType<Readiness['report']>>;
  readonly metrics: MetricValues;
  readonly cluster: { readonly nodes: readonly Node[]; readonly freeShards: number } | undefined;
  readonly backlog: Backlog | undefined;
  readonly deadMails: readonly DeadMail[] | undefined;
}

export interface StatusOptions {
  readonly node: string;
  readonly version: string;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly readiness: Pick<Readiness, 'report'>;
  readonly cluster: Pick<ClusterOperations, 'nodes' | 'shards' | 'backlog'>;
  readonly actors: Actors;
  readonly shardCount: number;
}

/** How many dead timers, dead tells and dead mails the page lists, of each. */
const deadMax = 20;
/** The page waits no longer than this for the mailer. */
const mailDeadlineMs = 2_000;

export async function readStatus(options: StatusOptions): Promise<ClusterStatus> {
  const { node, version, clock, readiness, registry } = options;
  const [report, metrics, cluster, backlog, deadMails] = await Promise.all([
    readiness.report(),
    metricValuesOf(registry),
    ifKnown(clusterOf(options)),
    ifKnown(options.cluster.backlog(deadMax)),
    ifKnown(deadMailsOf(options.actors)),
  ]);
  return { nowMs: clock.nowMs(), node, version, readiness: report, metrics, cluster, backlog, deadMails };
}

/** Readiness and the log tell why something cannot be read. */
const ifKnown = <T>(reading: Promise<T>): Promise<T | undefined> => reading.catch(() => undefined);

async function clusterOf({ cluster, shardCount }: StatusOptions) {
  const [reports, shards] = await Promise.all([cluster.nodes(), cluster.shards()]);
  const nodes = nodesOf(reports, shards);
  const held = nodes.reduce((sum, node) => sum + node.shards, 0);
  return { nodes, freeShards: shardCount - held };
}

async function deadMailsOf(actors: Actors): Promise<readonly DeadMail[]> {
  const mailer = actors.get(MailAdministration, mailerId).ask;
  const listed = mailer.listQueue({ state: 'dead', limit: deadMax }, { deadlineMs: mailDeadlineMs });
  // The mailer exists from the first mail on.
  const answer = await unlessAbsent(listed);
  return answer !== undefined && 'ok' in answer ? answer.ok.records : [];
}
