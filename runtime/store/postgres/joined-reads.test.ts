import test from 'ava';
import { table } from '../../table.ts';
import type { StoreRead } from '../store.ts';
import { joinReads } from './joined-reads.ts';

const seat = table({
  name: 'seat',
  columns: { owner: 'text', number: 'int8', code: 'text' },
  key: ['owner', 'number'],
  unique: [['code']],
  order: 'number',
});
const ticket = table({ name: 'ticket', columns: { owner: 'text' }, key: ['owner'] });

const keyOf = (owner: string, number: number) => ({ owner, number });
const keys = (...found: readonly { owner: string; number: number }[]): StoreRead => ({
  read: 'keys',
  table: seat,
  keys: found,
});
const byCode = (code: string): StoreRead => ({
  read: 'lookup',
  table: seat,
  unique: ['code'],
  values: [{ code }],
});
const range: StoreRead = { read: 'range', table: seat, owner: 'ada', after: 0, through: 9, limit: 5 };

test('reads by the same columns of one table are one, and each is answered with its own rows in its own order', (t) => {
  const joined = joinReads([
    keys(keyOf('ada', 2), keyOf('ada', 1), keyOf('ada', 2)),
    keys(keyOf('bob', 1), keyOf('bob', 9)),
    keys(keyOf('ada', 1)),
  ]);
  t.is(joined.length, 1);
  const rows = [
    { owner: 'ada', number: 1 },
    { owner: 'ada', number: 2 },
    { owner: 'bob', number: 1 },
  ];
  const answers = joined[0]?.split({ rows, complete: true }).map(({ index, found }) => [index, found.rows]);
  t.deepEqual(answers, [
    [0, [rows[1], rows[0]]],
    [1, [rows[2]]],
    [2, [rows[0]]],
  ]);
});

test('reads of other tables, by other columns, and ranges stay apart', (t) => {
  const joined = joinReads([
    range,
    keys(keyOf('ada', 1)),
    byCode('a'),
    { read: 'keys', table: ticket, keys: [{ owner: 'ada' }] },
    range,
    byCode('b'),
  ]);
  const indices = joined.map(({ read, split }) => [
    read.read,
    split({ rows: [], complete: true }).map(({ index }) => index),
  ]);
  t.deepEqual(indices, [
    ['range', [0]],
    ['range', [4]],
    ['keys', [1]],
    ['lookup', [2, 5]],
    ['keys', [3]],
  ]);
});
