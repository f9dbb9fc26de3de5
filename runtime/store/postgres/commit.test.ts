import test from 'ava';
import { commitTexts } from '../../../test/store/statement-shapes.ts';
import { letterTable, note, noteTable, uuid } from '../../../test/store/tables.ts';
import { table } from '../../table.ts';
import type { Write } from '../store.ts';
import { wholeBytesMax } from './columns.ts';
import { batchCommit } from './commit.ts';

/** The tables a statement changes, once for each place in which it does. */
function changedTables(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => [...text.matchAll(/(?:INSERT INTO|DELETE FROM|UPDATE) "?(\w+)"?/g)])
    .map((match) => String(match[1]))
    .filter((name) => name !== 'SET');
}

const isNew: Write = { table: noteTable, put: note(uuid(1), uuid(2)), isNew: true };

test('a new small row of a table with generations never touches its parts', (t) => {
  t.deepEqual(changedTables(commitTexts([isNew])), ['actor', 'note']);
  t.deepEqual(changedTables(commitTexts([{ ...isNew, isNew: false }])), ['actor', 'note', 'note_part']);
});

test('a row over one without parts never touches the parts of its key', (t) => {
  const put = { owner_uuid: uuid(1), name: 'a', body: 'short' };
  const write: Write = { table: letterTable, put, isNew: false };
  t.deepEqual(changedTables(commitTexts([{ ...write, hadNoParts: true }])), ['actor', 'letter']);
  t.deepEqual(changedTables(commitTexts([write])), ['actor', 'letter', 'letter_part']);
});

const commitOf = (...writes: readonly Write[]) => ({
  address: { kind: 'user', id: uuid(1) },
  epoch: 1,
  version: 1,
  commitId: uuid(9),
  writes,
});

test('a large value is in its parts, and not in its row too', (t) => {
  const content = 'x'.repeat(2 * wholeBytesMax);
  const write: Write = { ...isNew, put: { ...note(uuid(1), uuid(2)), content } };
  const { values } = batchCommit([commitOf(write)]).first;
  const bytes = values.reduce((sum: number, value) => sum + (value as ArrayLike<unknown>).length, 0);
  t.true(bytes >= content.length && bytes < content.length * 1.5);
});

test('tables of one name with other columns have a statement of their own', (t) => {
  const textOf = (columns: Record<string, 'uuid' | 'text'>) => {
    const named = table({ name: 'of_one_name', columns: { owner: 'uuid', ...columns }, key: ['owner'] });
    const put = Object.fromEntries(['owner', ...Object.keys(columns)].map((column) => [column, uuid(1)]));
    return batchCommit([commitOf({ table: named, put, isNew: true })]).first.text;
  };
  t.regex(textOf({ first: 'text' }), /"first"/);
  t.regex(textOf({ second: 'text' }), /"second"/);
});

test('a column without any value costs one empty array, however many rows there are', (t) => {
  const write = (id: number, content: string | null): Write => ({
    ...isNew,
    put: { ...note(uuid(1), uuid(id)), content },
  });
  const emptyArrays = (...writes: readonly Write[]): number =>
    batchCommit([commitOf(...writes)]).first.values.filter((value) => Array.isArray(value)).length;
  t.is(emptyArrays(write(2, null), write(3, null)), emptyArrays(write(2, null), write(3, 'x')) + 1);
});

test('one set of tables is one statement, whoever writes and however much', (t) => {
  const write = (id: number): Write => ({ ...isNew, put: note(uuid(1), uuid(id)) });
  const commits = [[write(3), write(2)], [write(4)]].map((writes, index) => ({
    address: { kind: 'user', id: uuid(index) },
    epoch: 1,
    version: 1,
    commitId: uuid(9),
    writes,
  }));
  t.deepEqual([batchCommit(commits).first.text], commitTexts([write(1)]));
});
