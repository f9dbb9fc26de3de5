/**
 * What a save costs the database in bytes of WAL and in rows, with full-page images off: the same on every machine. A limit
 * that is met is no reason to raise it; docs/performance.md tells what these bytes are.
 */
import test from 'ava';
import pg from 'pg';
import { migrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { openPostgresStore, storeSql } from '../../runtime/store/postgres/store.ts';
import type { Commit } from '../../runtime/store/store.ts';
import { note } from '../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { startServer } from '../kit/server.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

const neverMs = 1e11;
const saves = 25;
const content = `004:${'c'.repeat(1_020)}`;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

test('a save writes no more WAL and no more rows than it needs', async (t) => {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  let rows = 0;
  const batchCommit = (commits: readonly Commit[]) => {
    // Each commit also writes the row of its actor.
    for (const { writes } of commits) rows += 1 + writes.length;
    return storeSql.batchCommit(commits);
  };
  const store = await openPostgresStore({ connection, sql: { ...storeSql, batchCommit } });
  t.teardown(() => store.close());
  const server = await startServer(t, {
    host: { store, limits: { sweepMs: neverMs, housekeepingMs: neverMs } },
  });
  const device = await server.device();
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(() => client.end());

  const position = async (): Promise<number> => {
    const { rows } = await client.query<{ bytes: string }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`,
    );
    return Number(rows[0]?.bytes);
  };
  /** Medians, as a look of autovacuum or a timer may come in between. */
  const costOf = async (save: (n: number) => Promise<unknown>) => {
    const spent: number[] = [];
    const written: number[] = [];
    for (let n = 0; n < saves; n += 1) {
      const before = await position();
      rows = 0;
      await save(n);
      spent.push((await position()) - before);
      written.push(rows);
    }
    return { bytes: median(spent), rows: median(written) };
  };

  const ofNote = await costOf(() => device.save(note({ uuid: crypto.randomUUID(), content })));
  const tag = () => note({ uuid: crypto.randomUUID(), content, content_type: 'Tag' });
  const ofTag = await costOf(() => device.save(tag()));
  const first = await device.save(note({ uuid: crypto.randomUUID(), content }));
  let [saved] = first.saved_items;
  const ofEdit = await costOf(async (n) => {
    const { uuid = '', updated_at_timestamp } = saved ?? {};
    ({
      saved_items: [saved],
    } = await device.save(note({ uuid, content: `${content}${n}`, updated_at_timestamp })));
  });
  t.log({ ofNote, ofTag, ofEdit });
  const costs = { 'a new note': ofNote, 'a new item without a history': ofTag, 'an edit': ofEdit };
  for (const [what, { bytes, rows }] of Object.entries(costs)) {
    t.true(bytes <= 2_050, `${what} of 1 KB: ${bytes} bytes`);
    // The actor, the head of its collection, the item.
    t.is(rows, 3, what);
  }
});
