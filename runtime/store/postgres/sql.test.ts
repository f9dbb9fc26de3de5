import test from 'ava';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { arrayParameter } from './sql.ts';

let server: TestPostgres;
let client: pg.Client;
test.before(async () => {
  server = await startTestPostgres();
  client = new pg.Client(await server.createDatabase());
  await client.connect();
});
test.after.always(async () => {
  await client?.end();
  await server?.stop();
});

const long = 'x'.repeat(1_000);
const cases = {
  'no bytes': { type: 'bytea', values: [] },
  bytes: { type: 'bytea', values: [Buffer.from([0, 255, 92]), Buffer.alloc(0), null, new Uint8Array([1])] },
  'nothing but nulls': { type: 'bytea', values: [null, undefined] },
  'short texts': { type: 'text', values: ['', 'NULL', '{"a\\b",c}', null] },
  'short texts without quotes': { type: 'text', values: ['', 'NULL', '{a,b}', ' c\n', 'ü🙂', null] },
  uuids: { type: 'uuid', values: ['00000000-0000-4000-8000-000000000001', null] },
  'long texts': { type: 'text', values: [long, '', 'NULL', `{"a\\b",c}${long}`, `grüße 🙂${long}`, null] },
  integers: { type: 'int8', values: [0, -1, Number.MAX_SAFE_INTEGER, null] },
  'truth values': { type: 'bool', values: [true, false, null, undefined] },
  'nothing but nulls, of uuids': { type: 'uuid', values: [null, undefined] },
} as const;

for (const [name, { type, values }] of Object.entries(cases)) {
  test(`the database gets ${name} as the driver sends them`, async (t) => {
    const all = `SELECT array_agg(value::text ORDER BY place) FROM unnest`;
    const as = `AS w(value, place)`;
    const { rows } = await client.query(
      `SELECT (${all}($1::${type}[]) WITH ORDINALITY ${as}) IS NOT DISTINCT FROM
         (${all}($2::${type}[]) WITH ORDINALITY ${as}) AS same, cardinality($1::${type}[]) AS count`,
      [
        arrayParameter(type, values),
        values.map((value) => value && (typeof value === 'object' ? Buffer.from(value) : value)),
      ],
    );
    t.deepEqual(rows, [{ same: true, count: values.length }]);
  });
}

test('ciphertext goes in binary format, and a short text does not', (t) => {
  t.true(Buffer.isBuffer(arrayParameter('text', [long])));
  t.is(arrayParameter('text', ['short', null]), '{"short",NULL}');
});

test('half of a surrogate pair goes as the driver sends it', async (t) => {
  const broken = `\ud83d${long}`;
  const { rows } = await client.query('SELECT $1::text[] = $2::text[] AS same', [
    arrayParameter('text', [broken]),
    [broken],
  ]);
  t.deepEqual(rows, [{ same: true }]);
});

test('a text that the database cannot hold fails there', async (t) => {
  const sent = client.query('SELECT $1::text[]', [arrayParameter('text', [`${long}\u0000`])]);
  const error = await t.throwsAsync(sent, { instanceOf: pg.DatabaseError });
  t.is(error?.code, '22021');
});
