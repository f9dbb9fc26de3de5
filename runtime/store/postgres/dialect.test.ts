/**
 * The rules of the common dialect (design section 5), held against every statement this folder can make. By matching
 * texts: CockroachDB's own parser is a Go module, and parsing with it comes with the work that brings real nodes on it.
 */
import test from 'ava';
import fc from 'fast-check';
import { contractTables, note, noteTable, uuid } from '../../../test/store/tables.ts';
import type { Commit, Write } from '../store.ts';
import { outboxTable, runtimeTables, sliceTable } from '../tables.ts';
import { batchCommit } from './commit.ts';
import { StatementNames } from './pool.ts';
import { planRead } from './reads.ts';
import { createTable, runtimeMigrations } from './schema.ts';
import { storeSql as statements } from './store.ts';

const address = { kind: 'user', id: uuid(1) };
const node = { id: 'a', incarnation: 'i', address: 'local', roles: 'all', version: '1', formats: '1' };
const range = { read: 'range', table: noteTable, owner: uuid(1), after: 0, through: 9, limit: 5 } as const;

const fixedTexts = [
  statements.time(),
  statements.activate(address, 1),
  statements.activateOrCreate(address, 0, 1),
  statements.barrier(address, 1),
  statements.head(address),
  statements.slices(address),
  statements.register(node, 1, 1, false),
  statements.registered('a'),
  statements.setDraining('a', true),
  statements.shardsOf('i'),
  statements.release('i', [1], [1]),
  statements.shards(),
  statements.backlog(),
  statements.deadTimers(1),
  statements.deadTells(1),
  statements.renew('a', 'i', 1),
  statements.leave('a', 'i'),
  statements.nodes(),
  statements.buryExpired(),
  statements.freeShards([1], 'incarnation'),
  statements.nextEpoch(),
  statements.nextStart(),
  statements.takeShards('a', 'i', [1], 1),
  statements.timers(address),
  statements.dueTimers([1], 0, 1, 1),
  statements.pendingTells([1], 0, 1),
  statements.pruneCalls([1], 0, 1),
  statements.setSetting('a', 'b'),
  statements.replaceSetting('a', 'b'),
  statements.setting('a'),
  planRead({ read: 'keys', table: noteTable, keys: [{ owner_uuid: uuid(1), uuid: uuid(2) }] }).statement,
  planRead({ read: 'lookup', table: noteTable, unique: ['uuid'], values: [{ uuid: uuid(2) }] }).statement,
  planRead(range).statement,
  planRead({ ...range, subset: 'live', budgetBytes: 9, columns: ['content'] }).statement,
].map(({ text }) => text);

const migrations = [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))];

const forbidden =
  /SELECT \*|\bSERIAL\b|\bLISTEN\b|\bNOTIFY\b|advisory|\bTEMP|DEFERR|\bUPSERT\b|\bDOMAIN\b|\bCURSOR\b|\bDO \$\$|CONCURRENTLY/i;

const writeArbitrary: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    table: fc.constant(noteTable),
    put: fc.constantFrom(note(uuid(1), uuid(2)), note(uuid(1), uuid(3), { content: 'x'.repeat(600_000) })),
    isNew: fc.boolean(),
  }),
  fc.record({ table: fc.constant(noteTable), remove: fc.constant({ owner_uuid: uuid(1), uuid: uuid(4) }) }),
  fc.record({
    table: fc.constant(sliceTable),
    put: fc.constant({ ...address, slice: 's' }),
    isNew: fc.boolean(),
  }),
  fc.record({
    table: fc.constantFrom(sliceTable, outboxTable),
    remove: fc.constant({ ...address, slice: 't' }),
  }),
);
const batchArbitrary = fc.array(fc.array(writeArbitrary, { maxLength: 4 }), { minLength: 1, maxLength: 4 });

function textsOf(batch: readonly (readonly Write[])[]): readonly string[] {
  const commits: Commit[] = batch.map((writes, index) => ({
    address: { kind: 'user', id: uuid(index) },
    epoch: 1,
    version: 1,
    commitId: uuid(9),
    writes,
  }));
  const { first, second } = batchCommit(commits);
  return second === undefined ? [first.text] : [first.text, second([0]).text];
}

/** The tables a statement changes, once for each place in which it does. */
function changedTables(text: string): readonly string[] {
  return [...text.matchAll(/(?:INSERT INTO|DELETE FROM|UPDATE) "?(\w+)"?/g)]
    .map((match) => String(match[1]))
    .filter((name) => name !== 'SET');
}

test('no statement or migration uses what one of the databases lacks', (t) => {
  for (const text of [...fixedTexts, ...migrations.map(({ sql }) => sql)]) t.notRegex(text, forbidden);
});

test('every migration is one repeatable statement with an id of its own', (t) => {
  t.is(new Set(migrations.map(({ id }) => id)).size, migrations.length);
  for (const { sql } of migrations) {
    t.notRegex(sql, /;/);
    t.regex(sql, / IF NOT EXISTS /);
  }
});

test('every table of the runtime has a primary key that begins with neither a time nor a sequence', (t) => {
  const tables = migrations.filter(({ sql }) => sql.startsWith('CREATE TABLE'));
  t.true(tables.length >= runtimeTables.length + 5);
  for (const { sql } of tables) {
    t.regex(sql, /PRIMARY KEY/);
    t.notRegex(sql, /PRIMARY KEY \("?(at|due_at|position|version|epoch)/);
  }
});

test('no commit changes a table in two places of one statement', (t) => {
  fc.assert(
    fc.property(batchArbitrary, (batch) => {
      for (const text of textsOf(batch)) {
        const changed = changedTables(text);
        if (forbidden.test(text) || new Set(changed).size !== changed.length) return false;
      }
      return true;
    }),
    { numRuns: 300, seed: 11 },
  );
  t.deepEqual(changedTables(textsOf([[]])[0] ?? ''), ['actor']);
});

test('a new small row of a table with birth never touches its parts', (t) => {
  const isNew = { table: noteTable, put: note(uuid(1), uuid(2)), isNew: true };
  t.deepEqual(textsOf([[isNew]]).flatMap(changedTables), ['actor', 'note']);
  t.deepEqual(textsOf([[{ ...isNew, isNew: false }]]).flatMap(changedTables), ['actor', 'note', 'note_part']);
});

test('one set of tables is one statement, whoever writes and however much', (t) => {
  const write = (id: number): Write => ({ table: noteTable, put: note(uuid(1), uuid(id)), isNew: true });
  t.deepEqual(textsOf([[write(1)]]), textsOf([[write(3), write(2)], [write(4)]]));
});

test('the number of prepared statements is bounded', (t) => {
  const names = new StatementNames(2);
  t.deepEqual(
    ['a', 'b', 'c', 'a'].map((text) => names.nameOf(text)),
    ['s0', 's1', undefined, 's0'],
  );
});
