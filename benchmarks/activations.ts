/**
 * Activations after a take-over. Many actors, each with two slices, are activated and loaded 64 at a time, directly from the store
 * of a separate PostgreSQL.
 *
 * node --import=tsx benchmarks/activations.ts [--actors 5000] [--rounds 3]
 */
import { migrate } from '../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../runtime/store/postgres/migrations.ts';
import { openPostgresStore } from '../runtime/store/postgres/store.ts';
import { startTestPostgres } from '../test/kit/postgres.ts';
import { activate, actor, commitOn, putSlice } from '../test/store/actors.ts';
import { someAtOnce } from './support/at-once.ts';
import { printFigures } from './support/figures.ts';
import { numberOptions } from './support/options.ts';

const { actors: count, rounds } = numberOptions({ actors: 5_000, rounds: 3 });
/** As many as a host activates at a time. */
const atOnce = 64;
const text = 'x'.repeat(1_000);

const server = await startTestPostgres();
const connection = await server.createDatabase();
await migrate(connection, [...runtimeMigrations]);
const store = await openPostgresStore({ connection });

try {
  await someAtOnce(count, 4, async (index) => {
    const address = actor(index + 1);
    const writes = ['profile', 'sessions'].map((slice) => putSlice(address, slice, text));
    await store.commit([commitOn(await activate(store, address), address, 1, writes)]);
  });
  for (let round = 1; round <= rounds; round += 1) {
    const cpu = process.cpuUsage();
    const beganMs = performance.now();
    await someAtOnce(count, atOnce, async (index) => {
      const address = actor(index + 1);
      const { outcome } = await store.activate(address, 0, 1 + round, false);
      if (outcome !== 'active') throw new Error(`an activation was ${outcome}`);
      await Promise.all([store.slices(address), store.timers(address)]);
    });
    const seconds = (performance.now() - beganMs) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    printFigures(`round ${round}`, {
      'activations/s': count / seconds,
      'own CPU of each, µs': (user + system) / count,
    });
  }
} finally {
  await store.close();
  await server.stop();
}
process.exit(0);
