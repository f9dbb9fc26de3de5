/**
 * What a save costs the database in bytes of WAL and in rows, with full-page images off: the same on every machine. A limit
 * that is met is no reason to raise it; docs/performance.md tells what these bytes are.
 */
import test from 'ava';
import pg from 'pg';
import { migrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
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

test('a save writes no more WAL than it needs', async (t) => {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  const store = await openPostgresStore({ connection });
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
  /** The median, as a look of autovacuum may come in between. */
  const bytesOf = async (save: (n: number) => Promise<unknown>): Promise<number> => {
    const spent: number[] = [];
    for (let n = 0; n < saves; n += 1) {
      const before = await position();
      await save(n);
      spent.push((await position()) - before);
    }
    return median(spent);
  };

  const ofNote = await bytesOf(() => device.save(note({ uuid: crypto.randomUUID(), content })));
  const tag = () => note({ uuid: crypto.randomUUID(), content, content_type: 'Tag' });
  const ofTag = await bytesOf(() => device.save(tag()));
  const first = await device.save(note({ uuid: crypto.randomUUID(), content }));
  let [saved] = first.saved_items;
  const ofEdit = await bytesOf(async (n) => {
    const { uuid = '', updated_at_timestamp } = saved ?? {};
    ({
      saved_items: [saved],
    } = await device.save(note({ uuid, content: `${content}${n}`, updated_at_timestamp })));
  });
  t.log({ ofNote, ofTag, ofEdit });
  t.true(ofNote <= 2_050, `a new note of 1 KB: ${ofNote} bytes`);
  t.true(ofTag <= 2_050, `a new item of 1 KB without a history: ${ofTag} bytes`);
  t.true(ofEdit <= 2_050, `an edit within the pause between revisions: ${ofEdit} bytes`);
});
