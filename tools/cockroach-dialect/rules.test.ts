/** Breaks each rule of the dialect once: a checker that finds nothing would prove nothing. */
import test from 'ava';
import { buildDialectChecker, checkDialect } from './run.ts';

test.before(() => buildDialectChecker());

const schema = [
  'CREATE TABLE IF NOT EXISTS actor (kind text NOT NULL, id text NOT NULL, epoch int8 NOT NULL, version int8 NOT NULL, commit_id uuid, PRIMARY KEY (kind, id))',
  'CREATE TABLE IF NOT EXISTS note (owner uuid NOT NULL, uuid uuid NOT NULL, position int8 NOT NULL, size int8, PRIMARY KEY (owner, uuid))',
  'CREATE UNIQUE INDEX IF NOT EXISTS note_uuid ON note (uuid)',
  'CREATE UNIQUE INDEX IF NOT EXISTS note_small ON note (owner, position) WHERE size < 9',
];

function rulesBrokenBy(texts: readonly string[]): readonly string[] {
  const found = checkDialect([...schema.map((text) => ({ texts: [text] })), { texts }]);
  return [...new Set(found.map(({ rule }) => rule))];
}

const table = (columns: string) => `CREATE TABLE IF NOT EXISTS made (${columns})`;
const index = (what: string) => `CREATE INDEX IF NOT EXISTS made ${what}`;

const wrong: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  parse: [
    'SELECT FROM WHERE',
    'LISTEN wake',
    'NOTIFY wake',
    `DO $$ BEGIN RAISE NOTICE 'x'; END $$`,
    'SET CONSTRAINTS ALL DEFERRED',
    'CREATE DOMAIN word AS text',
    'UPDATE actor SET (epoch, version) = ROW(1, 2)',
  ],
  syntax: [
    'DECLARE c CURSOR FOR SELECT kind FROM actor',
    'FETCH 1 FROM c',
    'PREPARE p AS SELECT kind FROM actor',
    `UPSERT INTO actor (kind, id, epoch, version) VALUES ('a', 'b', 1, 1)`,
    "SELECT kind FROM actor AS OF SYSTEM TIME '-5s'",
    'SELECT kind FROM actor@primary',
    'SELECT a.kind FROM actor AS a INNER HASH JOIN note AS n ON a.epoch = n.position',
    'UPDATE actor SET epoch = 1 LIMIT 1',
    'DELETE FROM actor ORDER BY kind LIMIT 1',
    'TRUNCATE actor',
    'DROP VIEW IF EXISTS actor',
    'DROP TABLE IF EXISTS actor CASCADE',
    'DROP INDEX CONCURRENTLY IF EXISTS note_small',
    'DROP INDEX IF EXISTS note@note_small',
    'ALTER TABLE note DROP COLUMN IF EXISTS size CASCADE',
    'SAVEPOINT s',
    "SET timezone = 'UTC'",
    'SELECT kind FROM actor UNION SELECT id FROM actor',
    'SELECT kind FROM actor EXCEPT ALL SELECT id FROM actor',
    `SELECT array[1] AS a`,
    `SELECT date '2020-01-01' AS d`,
    `CREATE TEMP TABLE IF NOT EXISTS made (id text PRIMARY KEY)`,
    table('id text PRIMARY KEY, owner text REFERENCES actor (id)'),
    table('id text PRIMARY KEY, size int8 CHECK (size > 0)'),
    table('id text PRIMARY KEY, FAMILY f (id)'),
    table('id text PRIMARY KEY, INDEX i (id)'),
    index('ON note (owner) STORING (size)'),
    index('ON note (owner) USING HASH'),
    index('ON note (lower(owner::text))'),
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS made ON note (owner)',
    'INSERT INTO actor (kind) VALUES ($1) ON CONFLICT ON CONSTRAINT actor_pkey DO NOTHING',
  ],
  star: [
    'SELECT * FROM actor',
    'SELECT a.* FROM actor AS a',
    'DELETE FROM actor RETURNING *',
    'INSERT INTO note SELECT owner, uuid, position, size FROM note',
  ],
  function: [
    'SELECT pg_advisory_lock(1) AS locked',
    'SELECT pg_try_advisory_xact_lock(1) AS locked',
    'SELECT random() AS chance',
    'SELECT kind FROM actor WHERE pg_sleep(1) IS NULL',
  ],
  division: ['SELECT epoch / 2 AS half FROM actor', 'SELECT kind FROM actor WHERE epoch // 2 = 1'],
  locking: ['SELECT kind FROM actor FOR UPDATE', 'SELECT kind FROM actor FOR SHARE SKIP LOCKED'],
  type: [
    table('id serial PRIMARY KEY'),
    table('id text PRIMARY KEY, n bigserial'),
    table('id text PRIMARY KEY, n int8 GENERATED ALWAYS AS IDENTITY'),
    table('id text PRIMARY KEY, n int4'),
    table('id text PRIMARY KEY, n varchar(9)'),
    table('id text PRIMARY KEY, n float8'),
    'SELECT epoch::int4 AS n FROM actor',
    'SELECT unnest($1::int4[]) AS n',
  ],
  variable: ['SHOW cluster_name'],
  'schema-change': [
    ['BEGIN', index('ON note (owner)'), 'COMMIT'],
    `${index('ON note (owner)')}; SELECT kind FROM actor`,
    'ALTER TABLE note ADD COLUMN IF NOT EXISTS a text, ADD COLUMN IF NOT EXISTS b text',
    'CREATE TABLE made (id text PRIMARY KEY)',
    'CREATE INDEX made ON note (owner)',
    'ALTER TABLE note ADD COLUMN a text',
    'DROP TABLE note',
    'DROP TABLE IF EXISTS note, actor',
    'DROP INDEX note_small',
    'DROP INDEX IF EXISTS note_small, note_uuid',
    'ALTER TABLE note DROP COLUMN size',
    ['BEGIN', 'DROP TABLE IF EXISTS note', 'COMMIT'],
  ],
  key: [
    table('n int8 NOT NULL PRIMARY KEY'),
    table('at timestamptz NOT NULL, id text NOT NULL, PRIMARY KEY (at, id)'),
    table('id text NOT NULL'),
    index('ON note (position)'),
    index('ON note (size) WHERE size > 9'),
    'ALTER TABLE note DROP COLUMN IF EXISTS position',
  ],
  mutation: [
    `WITH a AS (DELETE FROM note WHERE size = 1), b AS (UPDATE note SET size = 2 WHERE size = 3) SELECT 1 AS done`,
    `WITH a AS (INSERT INTO note (owner, uuid, position) VALUES ($1, $2, 1)) DELETE FROM note WHERE size = 1`,
    `WITH a AS (WITH b AS (DELETE FROM note WHERE size = 1) SELECT 1 AS n) UPDATE note SET size = 2 WHERE size = 3`,
  ],
  conflict: [
    'INSERT INTO note (owner, uuid, position) VALUES ($1, $2, 1) ON CONFLICT (owner) DO NOTHING',
    'INSERT INTO note (owner, uuid, position) VALUES ($1, $2, 1) ON CONFLICT (owner, position) DO NOTHING',
    'INSERT INTO note (owner, uuid, position) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING',
    [
      'DROP INDEX IF EXISTS note_uuid CASCADE',
      'INSERT INTO note (owner, uuid, position) VALUES ($1, $2, 1) ON CONFLICT (uuid) DO NOTHING',
    ],
  ],
  name: [
    'SELECT w.a FROM unnest($1::int8[]) AS w(a) CROSS JOIN (SELECT kind FROM actor WHERE epoch = w.a) AS b',
    'SELECT kind FROM missing',
    ['DROP TABLE IF EXISTS note', 'SELECT uuid FROM note'],
    ['ALTER TABLE note DROP COLUMN IF EXISTS size', 'SELECT size FROM note'],
    'SELECT missing FROM actor',
    'SELECT a.missing FROM actor AS a',
    'SELECT kind FROM actor UNION ALL SELECT missing FROM actor',
    'SELECT a.id FROM (SELECT kind FROM actor UNION ALL SELECT id FROM actor) AS a',
    'SELECT actor.kind FROM actor AS a',
    'SELECT kind FROM actor WHERE EXISTS (SELECT 1 FROM note WHERE note.missing = actor.kind)',
    'UPDATE actor SET missing = 1',
    'INSERT INTO actor (missing) VALUES (1)',
    'DELETE FROM actor USING unnest($1::text[]) AS w(kind) WHERE actor.kind = w.id',
    'INSERT INTO actor (kind, id) VALUES ($1, $2) ON CONFLICT (kind, id) DO UPDATE SET epoch = excluded.missing',
    'WITH a AS (UPDATE actor SET epoch = 1 RETURNING kind) SELECT id FROM a',
    'SELECT count(*) OVER (ORDER BY missing) AS n FROM actor',
    index('ON missing (id)'),
    index('ON note (missing)'),
    index('ON note (owner) WHERE missing = 1'),
  ],
  nulls: ['SELECT uuid FROM note ORDER BY size', 'SELECT n.uuid FROM note AS n ORDER BY n.size DESC'],
};

for (const [rule, scripts] of Object.entries(wrong)) {
  for (const script of scripts) {
    const texts = typeof script === 'string' ? [script] : script;
    test(`${rule} is broken by: ${texts.join('; ')}`, (t) => {
      const broken = rulesBrokenBy(texts);
      t.true(broken.includes(rule), `broken: ${broken.join()}`);
    });
  }
}

test('a statement that the rules are not about breaks none', (t) => {
  for (const text of [
    ...schema,
    'SELECT count(*) AS n FROM actor',
    'SELECT a.kind FROM ((SELECT kind FROM actor LIMIT 1) UNION ALL (SELECT id FROM actor)) AS a',
    'SELECT uuid FROM note ORDER BY size NULLS LAST',
    'ALTER TABLE note ADD COLUMN IF NOT EXISTS a text',
    'ALTER TABLE actor DROP COLUMN IF EXISTS commit_id',
    'DROP INDEX IF EXISTS note_small',
    'DROP TABLE IF EXISTS note',
    'WITH a AS (DELETE FROM note WHERE size = 1 RETURNING uuid) UPDATE actor SET epoch = 1 WHERE commit_id IN (SELECT uuid FROM a)',
    'SELECT a.kind FROM actor AS a WHERE EXISTS (SELECT 1 FROM note WHERE position = a.epoch)',
  ]) {
    t.deepEqual(rulesBrokenBy([text]), [], text);
  }
  const locking = { texts: ['SELECT kind FROM actor FOR UPDATE'], lockReason: 'a test' };
  t.deepEqual(checkDialect([{ texts: schema.slice(0, 1) }, locking]), []);
});
