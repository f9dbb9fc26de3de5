import { Gauge, type Registry } from 'prom-client';
import { meterOf } from '../meter.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';

const batchBuckets = [1, 2, 4, 8, 16, 32, 64];
const secondsBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Values that are read from a host when metrics are collected. */
interface HostGauges {
  readonly actorCount: number;
  readonly jobCount: number;
  readonly shardCount: number;
  readonly leavingShardCount: number;
  readonly unreachableHostCount: number;
  readonly reconciliationAgeMs: number;
  readonly clockSkewMs: number;
  readonly hasLease: boolean;
}

/** The runtime's metrics in Prometheus form. Labels are kinds, commands and outcomes, never ids. */
export function prometheusRuntimeMetrics(registry: Registry, host: () => HostGauges): RuntimeMetrics {
  const { collectedCounter, counter, histogram } = meterOf(registry);
  const turns = new Map<string, { ok: number; error: number }>();
  collectedCounter(
    'scriptorium_turns_total',
    'Turns and shared reads by command and outcome',
    ['command', 'outcome'],
    (counter) => {
      for (const [command, { ok, error }] of turns) {
        counter.inc({ command, outcome: 'ok' }, ok);
        counter.inc({ command, outcome: 'error' }, error);
      }
    },
  );
  const commits = new Map<string, number>();
  collectedCounter('scriptorium_commits_total', 'Commits by outcome', ['outcome'], (counter) => {
    for (const [outcome, count] of commits) counter.inc({ outcome }, count);
  });
  const fenced = counter(
    'scriptorium_fenced_writes_total',
    'Commits rejected because a newer owner holds the actor',
  );
  const overloaded = counter(
    'scriptorium_overloaded_total',
    'Messages rejected because a limit was reached',
    ['command'],
  );
  const activations = counter('scriptorium_activations_total', 'Activations by outcome', ['outcome']);
  const claims = counter('scriptorium_shards_claimed_total', 'Shards this host took');
  const handOvers = counter(
    'scriptorium_shards_handed_over_total',
    'Shards this host handed over to another',
  );
  const deliveries = counter('scriptorium_deliveries_total', 'Timers, tells and runs of jobs by outcome', [
    'what',
    'outcome',
  ]);
  const batchSize = histogram(
    'scriptorium_commit_batch_size',
    'Actors whose commits went to the database together',
    batchBuckets,
  );
  const batchSeconds = histogram(
    'scriptorium_commit_batch_seconds',
    'Time from sending a batch of commits to its answer',
    secondsBuckets,
  );
  const readBatchSize = histogram(
    'scriptorium_read_batch_size',
    'Reads that went to the database together',
    batchBuckets,
  );
  const readBatchSeconds = histogram(
    'scriptorium_read_batch_seconds',
    'Time from asking for a batch of reads to its answer',
    secondsBuckets,
  );
  registerGauges(registry, host);
  return {
    // Finding a counter by its labels costs more than a turn, so `turn` and `commit` only count.
    turn(command, outcome) {
      let counts = turns.get(command);
      if (counts === undefined) {
        counts = { ok: 0, error: 0 };
        turns.set(command, counts);
      }
      counts[outcome] += 1;
    },
    commit(outcome) {
      commits.set(outcome, (commits.get(outcome) ?? 0) + 1);
      if (outcome === 'fenced') fenced.inc();
    },
    batch(size, durationMs) {
      batchSize.observe(size);
      batchSeconds.observe(durationMs / 1_000);
    },
    readBatch(reads, durationMs) {
      readBatchSize.observe(reads);
      readBatchSeconds.observe(durationMs / 1_000);
    },
    overloaded: (command) => overloaded.inc({ command }),
    activated: (outcome) => activations.inc({ outcome }),
    claimed: (shards) => claims.inc(shards),
    handedOver: (shards) => handOvers.inc(shards),
    delivered: (what, outcome) => deliveries.inc({ what, outcome }),
  };
}

function registerGauges(registry: Registry, host: () => HostGauges): void {
  const { gauge } = meterOf(registry);
  gauge('scriptorium_actors', 'Actors in memory', () => host().actorCount);
  gauge('scriptorium_jobs', 'Jobs that run on this host or wait there for room', () => host().jobCount);
  gauge('scriptorium_shards', 'Shards this host owns', () => host().shardCount);
  gauge(
    'scriptorium_shards_leaving',
    'Shards this host is handing over, served by nobody meanwhile',
    () => host().leavingShardCount,
  );
  gauge(
    'scriptorium_ownership_reconciliation_age_seconds',
    'Time since this host last compared what it owns with the database',
    () => host().reconciliationAgeMs / 1_000,
  );
  gauge(
    'scriptorium_hosts_unreachable',
    'Other hosts that are there and cannot be reached',
    () => host().unreachableHostCount,
  );
  gauge(
    'scriptorium_clock_skew_seconds',
    'How far the clock of this host is ahead of the one of the database, at least; negative where it is behind',
    () => host().clockSkewMs / 1_000,
  );
  gauge('scriptorium_lease_valid', 'Whether this host may serve', () => Number(host().hasLease));
}

/** The total number of shards. Every process reports it, because hosts that are gone report nothing. */
export function prometheusShardCount(registry: Registry, shardCount: number): void {
  const help = 'Shards of the cluster, owned or not';
  new Gauge({ name: 'scriptorium_cluster_shards', help, registers: [registry] }).set(shardCount);
}
