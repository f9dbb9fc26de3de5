import test from 'ava';
import pg from 'pg';
import { configureZone } from './cockroach.ts';

const zone = 'ALTER TABLE note CONFIGURE ZONE USING gc.ttlseconds = 600';

/** A server that says what it is, and may refuse the rest with a code. */
function serverOf(version: string, rejection?: string) {
  const sent: string[] = [];
  const query = async (text: string) => {
    if (text.startsWith('SELECT version()')) return { rows: [{ version }] };
    sent.push(text);
    if (rejection === undefined) return { rows: [] };
    throw Object.assign(new pg.DatabaseError('no', 0, 'error'), { code: rejection });
  };
  return { sent, client: { query } as unknown as pg.ClientBase };
}

test('CockroachDB alone is told of zones', async (t) => {
  const cockroach = serverOf('CockroachDB CCL v25.4.1 (x86_64-pc-linux-gnu)');
  await configureZone(cockroach.client, zone);
  t.deepEqual(cockroach.sent, [zone]);
  const postgres = serverOf('PostgreSQL 18.0 on x86_64-pc-linux-gnu');
  await configureZone(postgres.client, zone);
  t.deepEqual(postgres.sent, []);
});

test('a server that refuses to configure zones serves as well; any other failure is one', async (t) => {
  for (const rejection of ['42501', '0A000'])
    await t.notThrowsAsync(configureZone(serverOf('CockroachDB', rejection).client, zone));
  for (const rejection of ['40003', '57P01', '42601'])
    await t.throwsAsync(configureZone(serverOf('CockroachDB', rejection).client, zone), {
      instanceOf: pg.DatabaseError,
    });
});
