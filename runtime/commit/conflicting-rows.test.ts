import test from 'ava';
import { table } from '../table.ts';
import { ConflictingRows } from './conflicting-rows.ts';

const note = table({
  name: 'note',
  columns: { owner: 'text', name: 'text', uuid: 'text' },
  key: ['owner', 'name'],
  unique: [['uuid']],
});
const taken = { table: note, row: { owner: 'o', name: 'n', uuid: 'u' } };

test('a taken row is found by its key and by each unique key, and by nothing less', (t) => {
  const rows = ConflictingRows.none.with([taken]);
  t.is(rows.find(note, { owner: 'o', name: 'n' }), taken.row);
  t.is(rows.find(note, { uuid: 'u' }), taken.row);
  t.is(rows.find(note, { owner: 'o' }), undefined);
  t.is(rows.find(note, { uuid: 'v' }), undefined);
});

test('what an earlier rejection has shown is still known after a later one, and the latest look counts', (t) => {
  const moved = { table: note, row: { owner: 'p', name: 'n', uuid: 'u' } };
  const other = { table: note, row: { owner: 'o', name: 'm', uuid: 'v' } };
  const rows = ConflictingRows.none.with([taken]).with([other]).with([moved]);
  t.is(rows.find(note, { uuid: 'v' }), other.row);
  t.is(rows.find(note, { uuid: 'u' }), moved.row);
});
