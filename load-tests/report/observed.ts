/** The server metrics (docs/metrics.md) that a run observes, and their names in k6. */

export interface Observed {
  /** The name of the metric in k6. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly source: string;
  /**
   * Over all nodes. `rate`: the growth of a counter per second. `mean`: the mean of a histogram since the last
   * scrape.
   */
  readonly how: 'sum' | 'max' | 'rate' | 'mean';
  readonly times: number;
}

export const observed: readonly Observed[] = [
  {
    name: 'server_cpu_cores',
    title: 'CPU of all nodes',
    unit: 'cores',
    source: 'process_cpu_seconds_total',
    how: 'rate',
    times: 1,
  },
  {
    name: 'server_memory_mb',
    title: 'memory of all nodes',
    unit: 'MB',
    source: 'process_resident_memory_bytes',
    how: 'sum',
    times: 1e-6,
  },
  {
    name: 'server_event_loop_lag_ms',
    title: 'event loop lag, p99, of the slowest node',
    unit: 'ms',
    source: 'nodejs_eventloop_lag_p99_seconds',
    how: 'max',
    times: 1_000,
  },
  {
    name: 'server_requests_in_flight',
    title: 'requests in flight',
    unit: '',
    source: 'scriptorium_http_requests_in_flight',
    how: 'sum',
    times: 1,
  },
  {
    name: 'server_sockets_open',
    title: 'sockets open',
    unit: '',
    source: 'scriptorium_sockets_open',
    how: 'sum',
    times: 1,
  },
  {
    name: 'server_actors',
    title: 'actors in memory',
    unit: '',
    source: 'scriptorium_actors',
    how: 'sum',
    times: 1,
  },
  {
    name: 'server_commits_per_second',
    title: 'commits',
    unit: '/s',
    source: 'scriptorium_commits_total',
    how: 'rate',
    times: 1,
  },
  {
    name: 'server_commit_batch_ms',
    title: 'a batch of commits in the database, mean',
    unit: 'ms',
    source: 'scriptorium_commit_batch_seconds',
    how: 'mean',
    times: 1_000,
  },
];

export interface ObservedMetric {
  readonly name: string;
  readonly title: string;
  readonly source: string;
}

/** Metrics that should not grow, or that show what else happened. */
export const counted: readonly ObservedMetric[] = [
  {
    name: 'server_overloaded',
    title: 'messages rejected by a limit',
    source: 'scriptorium_overloaded_total',
  },
  {
    name: 'server_fenced_writes',
    title: 'commits of a former owner, rejected',
    source: 'scriptorium_fenced_writes_total',
  },
  { name: 'server_replies_cut', title: 'replies broken off', source: 'scriptorium_http_replies_cut' },
  {
    name: 'server_requests_aborted',
    title: 'requests whose client left',
    source: 'scriptorium_http_requests_aborted',
  },
  {
    name: 'server_connections_refused',
    title: 'connections closed as too many',
    source: 'scriptorium_http_connections_refused',
  },
  {
    name: 'server_unknown_outcomes',
    title: 'calls between processes without an answer',
    source: 'scriptorium_transport_unknown_outcomes_total',
  },
  {
    name: 'server_event_gaps',
    title: 'gaps in the events of a host',
    source: 'scriptorium_socket_event_gaps_total',
  },
  {
    name: 'server_shards_handed_over',
    title: 'shards handed over',
    source: 'scriptorium_shards_handed_over_total',
  },
  { name: 'server_shards_claimed', title: 'shards taken', source: 'scriptorium_shards_claimed_total' },
];
