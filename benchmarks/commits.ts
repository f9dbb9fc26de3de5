/**
 * Commits injected at the runtime (no HTTP), compared with manual inserts over one connection, in one run.
 *
 * node --import=tsx benchmarks/commits.ts [--seconds 5] [--callers 64] [--users 32] [--runs 3]
 *
 * Each call saves one new item of 1 KB and moves the collection's head, as a sync with one new item does. The manual
 * side is one connection that inserts as many item rows in each transaction as the runtime's batches had on average.
 */
import pg from 'pg';
import { type ItemRow, item } from '../actors/collection/item.ts';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { systemRandom } from '../runtime/random.ts';
import { collection, newItem } from './support/collection.ts';
import { withDatabase } from './support/database.ts';
import { median } from './support/figures.ts';
import { startHost } from './support/host.ts';
import { numberOptions } from './support/options.ts';

const { seconds, callers, users, runs } = numberOptions({ seconds: 5, callers: 64, users: 32, runs: 3 });

async function throughRuntime(connection: EmbeddedConnection): Promise<{ rate: number; batch: number }> {
  let batches = 0;
  const { actors, stop } = await startHost(connection, collection, {
    batch: () => {
      batches += 1;
    },
  });
  const ids = Array.from({ length: users }, () => systemRandom.uuid());
  const rate = await measure(callers, async (caller) => {
    await actors.get(collection, ids[caller % users] ?? '').ask.save(systemRandom.uuid());
  });
  const perBatch = (rate * seconds) / batches;
  await stop();
  return { rate, batch: perBatch };
}

/** Multi-row inserts of whole item rows by one connection, `rows` in each transaction. */
async function byHand(connection: EmbeddedConnection, rows: number): Promise<number> {
  const client = new pg.Client(connection);
  client.on('error', (error) => console.error(error.message));
  await client.connect();
  const owner = systemRandom.uuid();
  let position = 0;
  const columns = Object.keys(item.columns);
  const types = Object.values(item.columns).map((type) => type.replace('?', ''));
  const source = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const text = `INSERT INTO item (${columns.join(', ')}, content_parts) SELECT ${columns.join(', ')}, 0 FROM unnest(${source}) AS w(${columns.join(', ')})`;
  const transactions = await measure(1, async () => {
    const first = position;
    position += rows;
    const batch = Array.from({ length: rows }, (_, index) =>
      newItem(owner, systemRandom.uuid(), first + index + 1),
    );
    const arrays = columns.map((column) => batch.map((row) => row[column as keyof ItemRow]));
    await client.query({ name: 'by-hand', text, values: arrays });
  });
  await client.end();
  return transactions * rows;
}

async function measure(workers: number, work: (worker: number) => Promise<void>): Promise<number> {
  let done = 0;
  const endMs = performance.now() + seconds * 1_000;
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (performance.now() < endMs) {
        await work(worker);
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - startMs) / 1_000);
}

const ratios: number[] = [];
await withDatabase([item], async (connection) => {
  for (let run = 0; run < runs; run += 1) {
    const runtime = await throughRuntime(connection);
    const hand = await byHand(connection, Math.max(1, Math.round(runtime.batch)));
    ratios.push(runtime.rate / hand);
    console.log(
      `runtime ${runtime.rate.toFixed(0)} commits/s (${runtime.batch.toFixed(1)} turns a batch), ` +
        `by hand ${hand.toFixed(0)} rows/s, ratio ${(runtime.rate / hand).toFixed(2)}`,
    );
  }
});
console.log(`median ratio ${median(ratios).toFixed(2)}`);
