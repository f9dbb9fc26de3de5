/** The dashboards of a server: from a glance at all of it down to each part. Names of metrics: docs/metrics.md. */
import { chosen, type Dashboard, max, quantiles, query, rate, sum } from './grafana.ts';

const requests = 'scriptorium_http_request_duration_seconds';

const overview: Dashboard = {
  name: 'overview',
  title: 'Overview',
  rows: [
    {
      title: 'Is it well?',
      panels: [
        {
          title: 'Processes that answer',
          about: 'Processes that Prometheus reaches. Below what you run: look at the ones that are missing.',
          unit: 'short',
          isStat: true,
          queries: [query(`count(scriptorium_build_info{${chosen}}) or vector(0)`, 'processes')],
        },
        {
          title: 'Shards without an owner',
          about:
            'Above 0 for longer than two leases, some users are served by nobody (ScriptoriumShardsUnserved).',
          unit: 'short',
          isStat: true,
          queries: [
            query(
              `max(scriptorium_cluster_shards{${chosen}}) - (sum(scriptorium_shards{${chosen}}) or vector(0))`,
              'shards',
            ),
          ],
        },
        {
          title: 'Answers that failed',
          about: 'The share of answers with a status of 500 or above.',
          unit: 'percentunit',
          isStat: true,
          queries: [
            query(
              `(sum(rate(${requests}_count{${chosen},status="5xx"}[$__rate_interval])) or vector(0)) / (sum(rate(${requests}_count{${chosen}}[$__rate_interval])) > 0 or vector(1))`,
              '5xx',
            ),
          ],
        },
        {
          title: 'Oldest mail that is ready',
          about: 'Above five minutes no relay takes mail (ScriptoriumMailWaits).',
          unit: 's',
          isStat: true,
          queries: [query(max('scriptorium_mail_queue_oldest_ready_seconds'), 'age')],
        },
      ],
    },
    {
      title: 'What people notice',
      panels: [
        {
          title: 'Requests by status',
          about:
            '4xx grow with wrong passwords and limits, 5xx with failures. 503 with Retry-After is among the latter.',
          unit: 'reqps',
          queries: [query(rate(`${requests}_count`, ['status']), '{{status}}')],
        },
        {
          title: 'Time of saves and syncs',
          about: 'From the first byte of the request to the last one of the answer, of POST /v1/items.',
          unit: 's',
          queries: quantiles(requests, [], 'route="/v1/items"'),
        },
        {
          title: 'Open sockets',
          about: 'Sockets that tell clients what others saved, and those of the sync lane.',
          unit: 'short',
          queries: [
            query(sum('scriptorium_sockets_open'), '/sockets'),
            query(sum('scriptorium_sync_lane_sockets'), '/sockets/sync'),
          ],
        },
      ],
    },
    {
      title: 'What runs',
      panels: [
        {
          title: 'Releases',
          about: 'Processes by release and role. Two releases at once mean an upgrade under way.',
          unit: 'short',
          queries: [
            query(`sum by (version, role) (scriptorium_build_info{${chosen}})`, '{{version}} {{role}}'),
          ],
        },
        {
          title: 'Processor time',
          about:
            'Cores in use by process. One process uses one core for its event loop, and others for hashes.',
          unit: 'short',
          queries: [query(rate('process_cpu_seconds_total', ['instance']), '{{instance}}')],
        },
        {
          title: 'Memory',
          about: 'Resident memory by process.',
          unit: 'bytes',
          queries: [query(sum('process_resident_memory_bytes', ['instance']), '{{instance}}')],
        },
      ],
    },
  ],
};

const gateway: Dashboard = {
  name: 'gateway',
  title: 'Gateway and sockets',
  rows: [
    {
      title: 'HTTP',
      panels: [
        {
          title: 'Requests by route',
          about: 'The ten busiest routes.',
          unit: 'reqps',
          queries: [
            query(`topk(10, ${rate(`${requests}_count`, ['method', 'route'])})`, '{{method}} {{route}}'),
          ],
        },
        {
          title: 'Slowest routes',
          about: 'p99 of the ten slowest routes. Downloads and answers of the assistant may take long.',
          unit: 's',
          queries: [
            query(
              `topk(10, histogram_quantile(0.99, sum by (le, route) (rate(${requests}_bucket{${chosen}}[$__rate_interval])))) or vector(0)`,
              '{{route}}',
            ),
          ],
        },
        {
          title: 'In flight',
          about: 'Requests without a complete answer, by process.',
          unit: 'short',
          queries: [query(sum('scriptorium_http_requests_in_flight', ['instance']), '{{instance}}')],
        },
        {
          title: 'Aborted and cut off',
          about:
            'Requests whose client left, and answers that the server broke off because the reader was too slow.',
          unit: 'short',
          queries: [
            query(sum('scriptorium_http_requests_aborted'), 'aborted by clients'),
            query(sum('scriptorium_http_replies_cut'), 'cut off'),
            query(sum('scriptorium_http_ambiguous_requests'), 'bodies of unclear length'),
          ],
        },
      ],
    },
    {
      title: 'Connections and memory of bodies',
      panels: [
        {
          title: 'Connections',
          about: 'Open connections by process, sockets included. CONNECTIONS_MAX bounds them.',
          unit: 'short',
          queries: [query(sum('scriptorium_http_connections', ['instance']), '{{instance}}')],
        },
        {
          title: 'Refused connections',
          about: 'Refused as too many in all, and because one network had its share.',
          unit: 'short',
          queries: [
            query(sum('scriptorium_http_connections_refused'), 'in all'),
            query(sum('scriptorium_http_connections_refused_by_share'), 'by share'),
          ],
        },
        {
          title: 'Bodies in memory',
          about: 'Requests that have not arrived in full, and answers that slow readers have not taken.',
          unit: 'bytes',
          queries: [
            query(sum('scriptorium_http_unfinished_body_bytes'), 'requests'),
            query(sum('scriptorium_http_unsent_reply_bytes'), 'answers'),
            query(sum('scriptorium_http_reply_room_bytes'), 'answers that are never cut off'),
          ],
        },
      ],
    },
    {
      title: 'Sockets',
      panels: [
        {
          title: 'Opened and closed',
          about: 'Upgrades by outcome, and sockets closed by reason. "slow" readers come back by themselves.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_socket_upgrades_total', ['outcome']), 'upgrade {{outcome}}'),
            query(rate('scriptorium_sockets_closed_total', ['reason']), 'closed {{reason}}'),
          ],
        },
        {
          title: 'Events and frames',
          about: 'Events that hosts sent to gateways, and frames that went to clients.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_socket_events_received_total'), 'events'),
            query(rate('scriptorium_socket_frames_sent_total'), 'frames'),
          ],
        },
        {
          title: 'Repairs',
          about:
            'Users and vaults whose clients were asked to sync because an event may have been lost, by cause.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_socket_repairs_total', ['cause']), '{{cause}}'),
            query(rate('scriptorium_socket_event_gaps_total'), 'gaps of events'),
            query(sum('scriptorium_socket_repairs_waiting'), 'waiting'),
          ],
        },
        {
          title: 'Vaults of open sockets',
          about:
            'Vaults whose members have sockets here, and the vaults asked for their members, by outcome.',
          unit: 'short',
          queries: [
            query(sum('scriptorium_socket_vaults'), 'vaults'),
            query(rate('scriptorium_socket_vault_registrations_total', ['outcome']), 'asked {{outcome}}'),
          ],
        },
      ],
    },
    {
      title: 'Sync lane',
      panels: [
        {
          title: 'Opened and closed',
          about: 'Sockets that a ticket has let in, and sockets that the server closed, by reason.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_sync_lane_opened_total'), 'opened'),
            query(rate('scriptorium_sync_lane_refused_total', ['reason']), 'refused {{reason}}'),
            query(rate('scriptorium_sync_lane_closed_total', ['reason']), 'closed {{reason}}'),
          ],
        },
        {
          title: 'Memory',
          about:
            'Waiting commands, and answers that clients have not read. Bounded for each socket and in all.',
          unit: 'bytes',
          queries: [query(sum('scriptorium_sync_lane_held_bytes', ['instance']), '{{instance}}')],
        },
        {
          title: 'Answers',
          about: 'Commands and questions about them, by answer.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_sync_lane_answers_total', ['frame', 'answer']), '{{frame}} {{answer}}'),
          ],
        },
      ],
    },
  ],
};

const runtime: Dashboard = {
  name: 'runtime',
  title: 'Runtime and ownership',
  rows: [
    {
      title: 'Ownership',
      panels: [
        {
          title: 'Shards by host',
          about: 'Hosts share the shards evenly. A host at 0 is draining or may not serve.',
          unit: 'short',
          queries: [query(sum('scriptorium_shards', ['instance']), '{{instance}}')],
        },
        {
          title: 'Leases',
          about: '1 while a host may serve. 0: it cannot reach the database, or its clock is wrong.',
          unit: 'short',
          queries: [query(sum('scriptorium_lease_valid', ['instance']), '{{instance}}')],
        },
        {
          title: 'Reconciliation',
          about:
            'Seconds since each host last compared what it owns with the database. Beyond LEASE_MS it is stuck.',
          unit: 's',
          queries: [
            query(sum('scriptorium_ownership_reconciliation_age_seconds', ['instance']), '{{instance}}'),
          ],
        },
        {
          title: 'Moves of shards',
          about:
            'Shards taken and handed over per second, and those under way, which nobody serves meanwhile.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_shards_claimed_total'), 'taken'),
            query(rate('scriptorium_shards_handed_over_total'), 'handed over'),
            query(sum('scriptorium_shards_leaving'), 'under way'),
          ],
        },
        {
          title: 'Clock skew',
          about:
            'How far the clock of each host is ahead of the one of the database. Beyond CLOCK_SKEW_MAX_MS it serves nobody.',
          unit: 's',
          queries: [query(`scriptorium_clock_skew_seconds{${chosen}}`, '{{instance}}')],
        },
      ],
    },
    {
      title: 'Actors',
      panels: [
        {
          title: 'Actors in memory',
          about: 'At most 50,000 for each host, or 256 MiB by their own estimate.',
          unit: 'short',
          queries: [query(sum('scriptorium_actors', ['instance']), '{{instance}}')],
        },
        {
          title: 'Turns by command',
          about: 'The ten busiest commands; shared reads are among them.',
          unit: 'short',
          queries: [query(`topk(10, ${rate('scriptorium_turns_total', ['command'])})`, '{{command}}')],
        },
        {
          title: 'Failed turns',
          about: 'Turns that threw, by command. Each has a line in the log.',
          unit: 'short',
          queries: [query(rate('scriptorium_turns_total', ['command'], 'outcome="error"'), '{{command}}')],
        },
        {
          title: 'Refused as too much',
          about: 'Messages that met a limit, by command. Their callers were told to try again later.',
          unit: 'short',
          queries: [query(rate('scriptorium_overloaded_total', ['command']), '{{command}}')],
        },
      ],
    },
  ],
};

const database: Dashboard = {
  name: 'database',
  title: 'Commits and database',
  rows: [
    {
      title: 'Commits',
      panels: [
        {
          title: 'Commits by outcome',
          about:
            '"unavailable": the database refuses writes. "unknown": its connections break. "fenced": a newer owner exists.',
          unit: 'short',
          queries: [query(rate('scriptorium_commits_total', ['outcome']), '{{outcome}}')],
        },
        {
          title: 'Time of a batch of commits',
          about: 'How long a save waits for the disk.',
          unit: 's',
          queries: quantiles('scriptorium_commit_batch_seconds'),
        },
        {
          title: 'Commits in a batch',
          about: 'Grows with load: the longer a commit takes, the more of them share one.',
          unit: 'short',
          queries: quantiles('scriptorium_commit_batch_size'),
        },
        {
          title: 'Fenced writes',
          about: 'Late writes of a host that was paused or cut off for longer than its lease, and refused.',
          unit: 'short',
          queries: [query(sum('scriptorium_fenced_writes_total', ['instance']), '{{instance}}')],
        },
      ],
    },
    {
      title: 'Reads',
      panels: [
        {
          title: 'Time of a batch of reads',
          about: 'From asking the database to its answer.',
          unit: 's',
          queries: quantiles('scriptorium_read_batch_seconds'),
        },
        {
          title: 'Reads in a batch',
          about: 'Reads that went to the database together.',
          unit: 'short',
          queries: quantiles('scriptorium_read_batch_size'),
        },
        {
          title: 'Activations',
          about: 'Actors brought into memory per second, by outcome.',
          unit: 'short',
          queries: [query(rate('scriptorium_activations_total', ['outcome']), '{{outcome}}')],
        },
      ],
    },
    {
      title: 'Files',
      panels: [
        {
          title: 'Calls of the store',
          about:
            '"full" and "unavailable" refuse uploads; "missing" is a file that the database names and that is not there.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_file_store_calls_total', ['call', 'outcome']), '{{call}} {{outcome}}'),
          ],
        },
        {
          title: 'Bytes',
          about: 'Ciphertext written to the store and read from it.',
          unit: 'Bps',
          queries: [query(rate('scriptorium_file_store_bytes_total', ['call']), '{{call}}')],
        },
        {
          title: 'Free space',
          about:
            'Of the disk of the folder of files. Below FILES_FREE_SPACE_RESERVE uploads are refused. Nothing with S3.',
          unit: 'bytes',
          queries: [query(`min(scriptorium_file_store_free_bytes{${chosen}}) or vector(0)`, 'free')],
        },
      ],
    },
    {
      title: 'Backups by BACKUP_SCHEDULE',
      panels: [
        {
          title: 'Age of the last backup',
          about:
            'With daily backups, none has worked where it is above a day (ScriptoriumBackupOld). No data without BACKUP_SCHEDULE.',
          unit: 's',
          // Without a schedule, a zero would look like a fresh backup.
          queries: [
            query(`time() - max(scriptorium_backup_last_success_timestamp_seconds{${chosen}})`, 'age'),
          ],
        },
        {
          title: 'Backups',
          about: 'Since the process started, by outcome. The log says why one failed.',
          unit: 'short',
          queries: [query(sum('scriptorium_backups_total', ['outcome']), '{{outcome}}')],
        },
      ],
    },
  ],
};

const transport: Dashboard = {
  name: 'transport',
  title: 'Transport',
  rows: [
    {
      title: 'NATS',
      panels: [
        {
          title: 'Connected',
          about: '1 while the process reaches NATS. Nothing here without NATS_URL.',
          unit: 'short',
          queries: [query(sum('scriptorium_transport_connected', ['instance']), '{{instance}}')],
        },
        {
          title: 'Wake-ups over JetStream',
          about: '0: messages between users wait for a sweep, up to 3 s.',
          unit: 'short',
          queries: [query(sum('scriptorium_transport_wake_stream_available', ['instance']), '{{instance}}')],
        },
        {
          title: 'Lost connections',
          about: 'Per second, by kind of connection.',
          unit: 'short',
          queries: [query(rate('scriptorium_transport_disconnects_total', ['connection']), '{{connection}}')],
        },
        {
          title: 'Lost wake-ups',
          about: 'A receiver that is not woken finds its message at the next sweep.',
          unit: 'short',
          queries: [query(rate('scriptorium_transport_failed_wakes_total'), 'wake-ups')],
        },
        {
          title: 'Hosts out of reach',
          about:
            'Other hosts that use this database and do not answer over NATS: is NATS_URL the same everywhere?',
          unit: 'short',
          queries: [query(max('scriptorium_hosts_unreachable'), 'hosts')],
        },
      ],
    },
    {
      title: 'Calls between processes',
      panels: [
        {
          title: 'Frames',
          about: 'By direction and kind.',
          unit: 'short',
          queries: [
            query(
              rate('scriptorium_transport_frames_total', ['direction', 'kind']),
              '{{direction}} {{kind}}',
            ),
          ],
        },
        {
          title: 'Waiting calls',
          about: 'Calls to other processes without an answer yet.',
          unit: 'short',
          queries: [query(sum('scriptorium_transport_calls_in_flight', ['instance']), '{{instance}}')],
        },
        {
          title: 'Large messages',
          about: 'Bytes of messages over the limit of NATS that wait until their receiver fetches them.',
          unit: 'bytes',
          queries: [query(sum('scriptorium_transport_held_bytes', ['instance']), '{{instance}}')],
        },
        {
          title: 'Calls without an answer',
          about: 'Their outcome is unknown, and the caller repeats them under the same id.',
          unit: 'short',
          queries: [query(rate('scriptorium_transport_unknown_outcomes_total'), 'calls')],
        },
        {
          title: 'Rejected frames',
          about: '"mac" and "stale": something outside this cluster publishes to its NATS.',
          unit: 'short',
          queries: [query(rate('scriptorium_transport_rejected_frames_total', ['reason']), '{{reason}}')],
        },
      ],
    },
  ],
};

const mail: Dashboard = {
  name: 'mail',
  title: 'Mail and timers',
  rows: [
    {
      title: 'Mail',
      panels: [
        {
          title: 'Queue',
          about:
            'Mails by state. "dead" were given up: scriptorium mail log says why, mail retry tries again.',
          unit: 'short',
          // Every process reports the whole queue.
          queries: [
            query(`max by (state) (scriptorium_mail_queue_mails{${chosen}}) or vector(0)`, '{{state}}'),
          ],
        },
        {
          title: 'Attempts',
          about: 'By outcome. "unable": a relay is away, or does not take its credentials.',
          unit: 'short',
          queries: [
            query(rate('scriptorium_mail_attempts_total', ['outcome', 'failure']), '{{outcome}} {{failure}}'),
          ],
        },
        {
          title: 'Oldest mail that is ready',
          about: 'Above five minutes no relay takes mail.',
          unit: 's',
          queries: [query(max('scriptorium_mail_queue_oldest_ready_seconds'), 'age')],
        },
      ],
    },
    {
      title: 'Timers, messages and jobs',
      panels: [
        {
          title: 'Deliveries',
          about:
            '"dead": failed ten times, and kept. scriptorium timers and tells show them, --revive tries again.',
          unit: 'short',
          queries: [query(rate('scriptorium_deliveries_total', ['what', 'outcome']), '{{what}} {{outcome}}')],
        },
        {
          title: 'Jobs',
          about: 'Slow work that runs on each host, or waits there for room.',
          unit: 'short',
          queries: [query(sum('scriptorium_jobs', ['instance']), '{{instance}}')],
        },
        {
          title: 'Assistant and pairings',
          about: 'Answers of assistants and refreshes of paired subscriptions, by outcome.',
          unit: 'short',
          queries: [
            query(
              rate('scriptorium_assistant_answers_total', ['provider', 'outcome']),
              '{{provider}} {{outcome}}',
            ),
            query(rate('scriptorium_pairing_refreshes_total', ['outcome']), 'refresh {{outcome}}'),
          ],
        },
      ],
    },
  ],
};

const capacity: Dashboard = {
  name: 'capacity',
  title: 'Capacity',
  rows: [
    {
      title: 'Processes',
      panels: [
        {
          title: 'Processor time',
          about: 'Cores in use. A process near one core answers late: add a process.',
          unit: 'short',
          queries: [query(rate('process_cpu_seconds_total', ['instance']), '{{instance}}')],
        },
        {
          title: 'Event loop delay',
          about: 'p99 by process, 50 ms when it is idle. Everything else in the process waits as long.',
          unit: 's',
          queries: [query(`nodejs_eventloop_lag_p99_seconds{${chosen}}`, '{{instance}}')],
        },
        {
          title: 'Memory',
          about: 'Resident memory, and the heap of JavaScript, by process.',
          unit: 'bytes',
          queries: [
            query(sum('process_resident_memory_bytes', ['instance']), '{{instance}}'),
            query(sum('nodejs_heap_size_used_bytes', ['instance']), '{{instance}} heap'),
          ],
        },
        {
          title: 'Open descriptors',
          about: 'The share of what the system allows. Each connection takes one.',
          unit: 'percentunit',
          queries: [query(`process_open_fds{${chosen}} / process_max_fds{${chosen}}`, '{{instance}}')],
        },
      ],
    },
    {
      title: 'Load',
      panels: [
        {
          title: 'Processor time of a request',
          about: 'Seconds of processor time over requests. Grows where each request became dearer.',
          unit: 's',
          queries: [
            query(
              `sum(rate(process_cpu_seconds_total{${chosen}}[$__rate_interval])) / (sum(rate(${requests}_count{${chosen}}[$__rate_interval])) > 0 or vector(1))`,
              'processor time',
            ),
          ],
        },
        {
          title: 'Users with open sockets',
          about: 'By process.',
          unit: 'short',
          queries: [query(sum('scriptorium_socket_users', ['instance']), '{{instance}}')],
        },
        {
          title: 'Actors in memory',
          about: 'By host, at most 50,000 each.',
          unit: 'short',
          queries: [query(sum('scriptorium_actors', ['instance']), '{{instance}}')],
        },
        {
          title: 'Memory of replies',
          about: 'What REPLY_MEMORY_BYTES bounds: beyond it the idlest reader is cut off.',
          unit: 'bytes',
          queries: [query(sum('scriptorium_http_unsent_reply_bytes', ['instance']), '{{instance}}')],
        },
      ],
    },
  ],
};

export const dashboards: readonly Dashboard[] = [
  overview,
  gateway,
  runtime,
  database,
  transport,
  mail,
  capacity,
];
