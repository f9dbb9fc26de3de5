/**
 * How a process uses its database: connections by purpose, and time-outs. Each purpose has its own connections, so
 * that a flood of one does not stop another. Ownership always has one connection and the lease two.
 */
import { defaultLimits, type Limits } from '../runtime/host/limits.ts';
import { integer, milliseconds, type SettingsOf, section } from '../runtime/setting.ts';
import type { PostgresStoreOptions } from '../runtime/store/postgres/store.ts';
import { embeddedConnectionsMax } from './postgres/cluster.ts';

export const databaseSettings = section('Data', {
  commitConnections: integer({
    name: 'DATABASE_COMMIT_CONNECTIONS',
    unit: 'connections',
    min: 2,
    max: 64,
    default: 4,
    description:
      'Connections of a process to its database for commits. Half of them are for commits that are stuck or must be separated from others.',
  }),
  readConnections: integer({
    name: 'DATABASE_READ_CONNECTIONS',
    unit: 'connections',
    min: 3,
    max: 64,
    default: 4,
    description: 'Connections for reads of clients. The reads of one account never take all of them.',
  }),
  barrierConnections: integer({
    name: 'DATABASE_BARRIER_CONNECTIONS',
    unit: 'connections',
    min: 2,
    max: 64,
    default: 4,
    description:
      'Connections for bringing actors into memory and for finding out what became of a commit. One of them at most waits for rows that were found locked.',
  }),
  sweepConnections: integer({
    name: 'DATABASE_SWEEP_CONNECTIONS',
    unit: 'connections',
    min: 1,
    max: 64,
    default: 2,
    description: 'Connections for sweeps of timers and tells, and for queries of operators.',
  }),
  waitMs: milliseconds({
    name: 'DATABASE_WAIT_MS',
    min: 100,
    max: 20_000,
    default: 5_000,
    description: 'How long a call waits for a connection to the database before it is answered 503.',
  }),
  statementTimeoutMs: milliseconds({
    name: 'DATABASE_STATEMENT_TIMEOUT_MS',
    min: 500,
    max: 20_000,
    default: 10_000,
    description: 'How long a statement may take. Those that renew a lease have two seconds.',
  }),
  lockWaitMs: milliseconds({
    name: 'DATABASE_LOCK_WAIT_MS',
    min: 10,
    max: 5_000,
    default: 100,
    description:
      'How long a commit or an activation waits for a row that something else holds locked, before it is tried again by itself.',
  }),
  readsOfAccountMax: integer({
    name: 'READS_OF_ACCOUNT_MAX',
    unit: 'reads',
    min: 1,
    max: 10_000,
    default: 64,
    description:
      'How many reads of one account may wait for the database on a host. Any more are answered 503 at once.',
  }),
});
export interface DatabaseSettings extends SettingsOf<typeof databaseSettings> {}

/** For other users of the embedded database: `psql`, a backup. */
const reservedForOthers = 10;
const fixedConnections = 3;

/** Constraints between the settings. */
export function databaseContradictionsOf(settings: DatabaseSettings, isEmbedded: boolean): readonly string[] {
  const { waitMs, statementTimeoutMs, lockWaitMs } = settings;
  const problems: string[] = [];
  if (lockWaitMs * 2 > statementTimeoutMs) {
    problems.push(
      'DATABASE_LOCK_WAIT_MS may be half of DATABASE_STATEMENT_TIMEOUT_MS at most: a statement that waits for a lock has to end by itself.',
    );
  }
  if (waitMs + statementTimeoutMs > defaultLimits.defaultDeadlineMs) {
    problems.push(
      `DATABASE_WAIT_MS and DATABASE_STATEMENT_TIMEOUT_MS may be ${defaultLimits.defaultDeadlineMs} together at most: no caller waits longer for an answer.`,
    );
  }
  const connections = connectionsOf(settings);
  const connectionsMax = embeddedConnectionsMax - reservedForOthers;
  if (isEmbedded && connections > connectionsMax) {
    problems.push(
      `The connections to the database are ${connections} in all, including ${fixedConnections} fixed ones, and the embedded database allows ${connectionsMax}: lower DATABASE_COMMIT_CONNECTIONS, DATABASE_READ_CONNECTIONS, DATABASE_BARRIER_CONNECTIONS or DATABASE_SWEEP_CONNECTIONS.`,
    );
  }
  return problems;
}

export const connectionsOf = (settings: DatabaseSettings): number =>
  settings.commitConnections +
  settings.readConnections +
  settings.barrierConnections +
  settings.sweepConnections +
  fixedConnections;

export const storeLimitsOf = (settings: DatabaseSettings) =>
  ({
    sizes: {
      commits: settings.commitConnections,
      reads: settings.readConnections,
      barriers: settings.barrierConnections,
      sweeps: settings.sweepConnections,
    },
    waitMaxMs: settings.waitMs,
    statementTimeoutMs: settings.statementTimeoutMs,
    lockWaitMs: settings.lockWaitMs,
  }) satisfies Partial<PostgresStoreOptions>;

/** The runtime does no more at once than it has connections for. The look-ups of the committer use one of those for reads. */
export function runtimeLimitsOf(settings: DatabaseSettings): Limits {
  const quarantinedCommitsInFlightMax = Math.floor(settings.commitConnections / 2);
  return {
    ...defaultLimits,
    commitsInFlightMax: settings.commitConnections - quarantinedCommitsInFlightMax,
    quarantinedCommitsInFlightMax,
    readsInFlightMax: settings.readConnections - 1,
    readWaitMaxMs: settings.waitMs,
    sharedReadsOfActorMax: settings.readsOfAccountMax,
  };
}
