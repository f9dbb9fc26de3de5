/** A host of counters over a real database, on the machine's real clock. */
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { systemClock } from '../../runtime/clock.ts';
import { provide } from '../../runtime/dependency.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { Host } from '../../runtime/host/host.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { noMetrics } from '../../runtime/host/runtime-metrics.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';
import { counterKind, SlowWork, tally, title } from '../simulation/counter.ts';
import { createTable } from './create-table.ts';
import { testNode } from './host.ts';
import type { TestPostgres } from './postgres.ts';
import { SeededRandom } from './random.ts';

export interface DatabaseHost {
  readonly host: Host;
  readonly actors: Actors;
  readonly random: SeededRandom;
  /** A separate connection, for interfering with the database. */
  readonly admin: pg.Client;
}

export async function startDatabaseHost(t: ExecutionContext, server: TestPostgres): Promise<DatabaseHost> {
  const connection = await server.createDatabase();
  await migrate(connection, [...runtimeMigrations, ...createTable(tally), ...createTable(title)]);
  const store = await openPostgresStore({ connection });
  const random = new SeededRandom(1);
  const transport = new InProcessTransport();
  const ports = { store, transport, clock: systemClock, random, logger: silentLogger };
  const host = new Host({
    ...ports,
    kinds: [counterKind],
    provided: [provide(SlowWork, { began() {}, take: () => Promise.resolve() })],
    limits: defaultLimits,
    metrics: noMetrics,
    node: testNode(random),
    shardCount: 16,
    leaseMs: 30_000,
    isPredecessorDead: true,
    onLeaseLost: () => undefined,
  });
  await host.start();
  const actors = createActors({ ...ports, defaultDeadlineMs: defaultLimits.defaultDeadlineMs });
  const admin = new pg.Client(connection);
  await admin.connect();
  t.teardown(async () => {
    host.abandon();
    await Promise.all([store.close(), admin.end()]);
  });
  return { host, actors, random, admin };
}
