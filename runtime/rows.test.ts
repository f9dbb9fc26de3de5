import test from 'ava';
import { removed } from './layers.ts';
import { Rows } from './rows.ts';
import { table } from './table.ts';

const note = table({ name: 'note', columns: { owner: 'text', name: 'text' }, key: ['owner', 'name'] });
const row = (name: string) => ({ owner: 'o', name });

function write(rows: Rows, name: string, commit: number): void {
  rows.lay(note, name, row(name), commit);
}

test('a durable row stays while a read that began before its commit is not used', (t) => {
  const rows = new Rows(0);
  const read = rows.begin(0);
  write(rows, 'a', 1);
  rows.promote([{ table: note, key: 'a' }], 1);
  t.deepEqual(rows.get(note, 'a')?.row, row('a'));
  rows.end(read);
  write(rows, 'b', 2);
  rows.promote([{ table: note, key: 'b' }], 2);
  t.is(rows.get(note, 'a'), undefined);
});

test('a read that began after the commit needs no kept row', (t) => {
  const rows = new Rows(0);
  write(rows, 'a', 1);
  const read = rows.begin(1);
  rows.promote([{ table: note, key: 'a' }], 1);
  t.is(rows.get(note, 'a'), undefined);
  rows.end(read);
});

test('what no read needs is cached within its bound, oldest dropped first', (t) => {
  const rows = new Rows(400);
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f', 'g'].entries()) {
    write(rows, name, index + 1);
    rows.promote([{ table: note, key: name }], index + 1);
  }
  t.is(rows.get(note, 'a'), undefined);
  t.deepEqual(rows.get(note, 'g')?.row, row('g'));
});

test('a later write of the same key is not promoted by an earlier commit', (t) => {
  const rows = new Rows(0);
  write(rows, 'a', 1);
  rows.lay(note, 'a', removed, 2);
  rows.promote([{ table: note, key: 'a' }], 1);
  t.is(rows.get(note, 'a')?.row, removed);
});

test('reverting forgets what is above the durable commit and nothing below it', (t) => {
  const rows = new Rows(10_000);
  write(rows, 'a', 1);
  rows.promote([{ table: note, key: 'a' }], 1);
  write(rows, 'b', 2);
  rows.revert(1);
  t.deepEqual(rows.get(note, 'a')?.row, row('a'));
  t.is(rows.get(note, 'b'), undefined);
});
