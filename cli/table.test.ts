import test from 'ava';
import { columnsMax, counted, duration, formatTable, record, size, timestamp } from './table.ts';

test('columns are as wide as their widest cell, and numbers stand right', (t) => {
  t.is(
    formatTable(
      ['NODE', 'SHARDS', 'STATE'],
      [
        ['a', 7, 'LIVE'],
        ['notes-2', 1_024, 'GONE'],
      ],
    ),
    ['NODE     SHARDS  STATE', 'a             7  LIVE', 'notes-2    1024  GONE'].join('\n'),
  );
});

test('a table that is too wide is cut only in the middle of its widest cells', (t) => {
  const text = formatTable(['ACTOR', 'NAME', 'TRIES'], [[`signin/${'ab'.repeat(32)}z`, 'x'.repeat(60), 10]]);
  const [head = '', row = ''] = text.split('\n');
  t.is(row.length, columnsMax);
  t.is(head.length, columnsMax);
  t.regex(row, /^signin\/(ab)+a?…b?(ab)*z {2}x+…x+ {5}10$/);
});

test('a table of nothing is nothing', (t) => {
  t.is(formatTable(['NODE'], []), '');
});

test('the fields of a record stand below each other', (t) => {
  t.is(
    record([
      ['node', 'a'],
      ['messages waiting', 3],
      ['workspace', ''],
    ]),
    ['node              a', 'messages waiting  3', 'workspace'].join('\n'),
  );
});

test('nothing that is shown steers the terminal', (t) => {
  t.is(record([['name', 'a\u001b[2Jb\nc']]), 'name  a·[2Jb·c');
  t.is(formatTable(['N'], [['\u0007']]), 'N\n·');
});

test('durations, sizes, counts and moments are shown as people say them', (t) => {
  t.deepEqual([0, 999, 1_000, 119_000, 120_000, 7_200_000].map(duration), [
    '0 ms',
    '999 ms',
    '1 s',
    '119 s',
    '2 min',
    '2 h',
  ]);
  t.deepEqual([0, 1_023, 1_024, 1_048_576, 2 ** 60].map(size), [
    '0 bytes',
    '1023 bytes',
    '1.0 KiB',
    '1.0 MiB',
    '1048576.0 TiB',
  ]);
  t.deepEqual([counted(1, 'shard'), counted(0, 'shard')], ['1 shard', '0 shards']);
  t.is(timestamp(new Date(Date.UTC(2026, 0, 2, 3, 4, 5))), '2026-01-02 03:04:05 UTC');
  t.is(timestamp(undefined), '');
});
