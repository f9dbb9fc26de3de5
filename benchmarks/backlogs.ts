/**
 * A backlog of timers and one of tells, at the real database (fsync on). It measures how long one sweep reads with a
 * large backlog, and how fast a backlog of recorded calls drains.
 *
 * node --import=tsx benchmarks/backlogs.ts [--rows 400000] [--shards 1024]
 */
import pg from 'pg';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { openPostgresStore } from '../runtime/store/postgres/store.ts';
import { withDatabase } from './support/database.ts';
import { medianMs, printFigures } from './support/figures.ts';
import { numberOptions } from './support/options.ts';

const { rows, shards: shardCount } = numberOptions({ rows: 400_000, shards: 1_024 });
const repeats = 21;
const limit = 128;

async function fill(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  const series = `generate_series(0, ${rows - 1}) AS n`;
  await client.query(
    `INSERT INTO timer SELECT 'alarm', n::text, 'ring', n % ${shardCount}, 1000 + n, '', 0, false FROM ${series}`,
  );
  await client.query(
    `INSERT INTO outbox SELECT 'alarm', n::text, gen_random_uuid(), n % ${shardCount}, 'ring', '', 'alarm', 'x', 1, 0,
       1000 + n, false FROM ${series}`,
  );
  await client.query(
    `INSERT INTO call SELECT 'alarm', n::text, n::text, n % ${shardCount}, '', 1000 + n FROM ${series}`,
  );
  await client.query('ANALYZE');
  await client.end();
}

async function run(connection: EmbeddedConnection): Promise<Record<string, number>> {
  await fill(connection);
  const store = await openPostgresStore({ connection });
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  const sweep = { shards, fromMs: 0, untilMs: 1e12, limit, share: 2 };
  const again = { ...sweep, shards: shards.slice(0, 16), share: 8 };
  const timers = await medianMs(repeats, () => store.dueTimers(sweep));
  const tells = await medianMs(repeats, () => store.pendingTells(sweep));
  const few = await medianMs(repeats, () => store.dueTimers(again));
  const one = await medianMs(repeats, () => store.dueTimers({ ...sweep, shards: [7], share: limit }));
  const startedMs = performance.now();
  let pruned = 0;
  for (let batch = -1; batch !== 0; pruned += batch) batch = await store.pruneCalls(shards, 1e12, 1_000);
  const prunedPerSecond = (pruned * 1_000) / (performance.now() - startedMs);
  await store.close();
  return {
    'ms of a whole pass for timers': timers,
    'ms of a whole pass for tells': tells,
    'ms of a further pass for timers': few,
    'ms of a further pass, one shard alone': one,
    'recorded calls removed/s': prunedPerSecond,
  };
}

await withDatabase([], async (connection) => {
  printFigures(`sweeps over ${rows} due rows in ${shardCount} shards`, await run(connection));
});
process.exit(0);
