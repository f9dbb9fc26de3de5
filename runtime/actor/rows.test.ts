import test from 'ava';
import { table } from '../table.ts';
import { removed } from './layers.ts';
import { Rows, rowBytes } from './rows.ts';

const note = table({ name: 'note', columns: { owner: 'text', name: 'text' }, key: ['owner', 'name'] });
const row = (name: string) => ({ owner: 'o', name });

function write(rows: Rows, name: string, commit: number): void {
  rows.overlay(note, name, row(name), commit);
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

test('a row that was retained for a read alone is dropped once the read is used', (t) => {
  const rows = new Rows(0);
  const read = rows.begin(0);
  write(rows, 'a', 1);
  rows.promote([{ table: note, key: 'a' }], 1);
  rows.release();
  t.deepEqual(rows.get(note, 'a')?.row, row('a'));
  rows.end(read);
  rows.release();
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

test('rows that no read needs are cached within a bound, and the oldest is dropped first', (t) => {
  const rows = new Rows(6 * rowBytes(row('a')));
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f', 'g'].entries()) {
    write(rows, name, index + 1);
    rows.promote([{ table: note, key: name }], index + 1);
  }
  t.is(rows.get(note, 'a'), undefined);
  t.deepEqual(rows.get(note, 'g')?.row, row('g'));
});

test('a row that is rarely read leaves memory once no read needs it, and pushes out no other', (t) => {
  const log = table({
    name: 'log',
    columns: { owner: 'text', name: 'text' },
    key: ['owner', 'name'],
    rarelyRead: true,
  });
  const rows = new Rows(10_000);
  write(rows, 'a', 1);
  rows.overlay(log, 'x', row('x'), 1);
  const read = rows.begin(0);
  const written = [note, log].map((of, index) => ({ table: of, key: 'ax'.charAt(index) }));
  rows.promote(written, 1);
  t.deepEqual(rows.get(log, 'x')?.row, row('x'));
  rows.end(read);
  rows.release();
  t.is(rows.get(log, 'x'), undefined);
  t.deepEqual(rows.get(note, 'a')?.row, row('a'));
  t.is(rows.cachedBytes, rowBytes(row('a')));
});

test('a row that is written again counts once', (t) => {
  const rows = new Rows(10_000);
  for (const commit of [1, 2, 3]) {
    write(rows, 'a', commit);
    rows.promote([{ table: note, key: 'a' }], commit);
  }
  t.is(rows.cachedBytes, rowBytes(row('a')));
});

test('a later write of the same key is not promoted by an earlier commit', (t) => {
  const rows = new Rows(0);
  write(rows, 'a', 1);
  rows.overlay(note, 'a', removed, 2);
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

const entry = table({
  name: 'entry',
  columns: { owner: 'text', name: 'text', position: 'int8' },
  key: ['owner', 'name'],
  order: 'position',
});

function putRow(rows: Rows, name: string, position: number, commit: number): void {
  rows.overlay(entry, name, { owner: 'o', name, position }, commit);
}
const positions = (rows: Rows, after: number) => rows.above(entry, after)?.map((each) => each['position']);

test('memory is sure of every row above one it did not see written, and of no other', (t) => {
  const rows = new Rows(10_000);
  t.is(rows.above(entry, 0), undefined);
  putRow(rows, 'a', 5, 1);
  putRow(rows, 'b', 6, 1);
  t.is(positions(rows, 3), undefined);
  t.deepEqual(positions(rows, 4), [5, 6]);
  putRow(rows, 'a', 7, 2);
  t.deepEqual(positions(rows, 4), [6, 7]);
  t.deepEqual(positions(rows, 7), []);
});

test('memory is not sure of rows it dropped, nor of any after going back', (t) => {
  const rows = new Rows(4 * rowBytes({ owner: 'o', name: '1', position: 1 }));
  for (const position of [1, 2, 3, 4, 5]) {
    putRow(rows, `${position}`, position, position);
    rows.promote([{ table: entry, key: `${position}` }], position);
  }
  t.is(positions(rows, 0), undefined);
  t.deepEqual(positions(rows, 1), [2, 3, 4, 5]);
  putRow(rows, '5', 6, 6);
  rows.revert(5);
  t.is(positions(rows, 4), undefined);
});
