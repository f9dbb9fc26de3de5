/** The costs of a server so far: its processes as the kernel counts them, its garbage collections, and its database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { cpuTimes } from './machine.ts';
import type { LoadServer } from './server.ts';

export type Counters = Readonly<Record<string, number>>;

/** PostgreSQL publishes the counts of a connection a second after it becomes idle. */
const statisticsDelayMs = 1_500;

export async function counters(server: LoadServer): Promise<Counters> {
  const { ownMs, belowMs } = cpuTimes(server.pid);
  const systemCalls = readAndWriteCalls(server.pid);
  const collectingMs = await collectionMs(server);
  return {
    'server CPU, µs': ownMs * 1_000,
    'database CPU, µs': belowMs * 1_000,
    'read and write calls': systemCalls,
    'collecting garbage, µs': collectingMs * 1_000,
    ...(await databaseCounts(server)),
  };
}

export function perRequest(start: Counters, end: Counters, requests: number): Counters {
  return Object.fromEntries(
    Object.entries(end).map(([name, value]) => [name, (value - (start[name] ?? 0)) / requests]),
  );
}

/** Calls of read, write and their kin; sendmsg and recvmsg are not among them. */
function readAndWriteCalls(pid: number): number {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
  return count('syscr') + count('syscw');
}

async function collectionMs({ metricsUrl }: LoadServer): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', metricsUrl))).text();
  const sums = [...metrics.matchAll(/^nodejs_gc_duration_seconds_sum\{[^}]*\} (\S+)/gm)];
  return sums.reduce((total, [, seconds]) => total + Number(seconds) * 1_000, 0);
}

async function databaseCounts({ dataDirectory }: LoadServer): Promise<Counters> {
  await sleep(statisticsDelayMs);
  const client = new pg.Client({
    host: join(dataDirectory, 'postgres'),
    user: 'scriptorium',
    database: 'scriptorium',
    password: readFileSync(join(dataDirectory, 'postgres-password'), 'utf8').trim(),
  });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(
      `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, xact_commit AS transactions,
         tup_inserted + tup_updated + tup_deleted AS written, tup_fetched AS fetched
       FROM pg_stat_database WHERE datname = current_database()`,
    );
    const [row = {}] = rows;
    return {
      'WAL, bytes': Number(row['wal']),
      'database transactions': Number(row['transactions']),
      'rows written': Number(row['written']),
      'rows fetched': Number(row['fetched']),
    };
  } finally {
    await client.end();
  }
}
