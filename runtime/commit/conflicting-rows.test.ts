import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { type Store, StoreError, type StoreRows } from '../store/store.ts';
import { table } from '../table.ts';
import { ConflictingRows, findRejections } from './conflicting-rows.ts';

const note = table({
  name: 'note',
  columns: { owner: 'text', name: 'text', uuid: 'text' },
  key: ['owner', 'name'],
  unique: [['uuid']],
});
const conflict = { table: note, row: { owner: 'o', name: 'n', uuid: 'u' } };

test('a taken row is found by its key and by each unique key, and by nothing less', (t) => {
  const rows = ConflictingRows.none.with([conflict]);
  t.is(rows.find(note, { owner: 'o', name: 'n' }), conflict.row);
  t.is(rows.find(note, { uuid: 'u' }), conflict.row);
  t.is(rows.find(note, { owner: 'o' }), undefined);
  t.is(rows.find(note, { uuid: 'v' }), undefined);
});

test('rows found by an earlier rejection are still known after a later one, and the latest look-up counts', (t) => {
  const moved = { table: note, row: { owner: 'p', name: 'n', uuid: 'u' } };
  const other = { table: note, row: { owner: 'o', name: 'm', uuid: 'v' } };
  const rows = ConflictingRows.none.with([conflict]).with([other]).with([moved]);
  t.is(rows.find(note, { uuid: 'v' }), other.row);
  t.is(rows.find(note, { uuid: 'u' }), moved.row);
});

const title = table({
  name: 'title',
  columns: { owner: 'text', name: 'text', born: 'int8' },
  key: ['owner', 'name'],
  generation: 'born',
  unique: [['name']],
});
const requestedTitle = { owner: 'ada', name: 'notes', born: 1 };
const heldTitle = { owner: 'bob', name: 'notes', born: 1 };

/** It gives the first reads up. */
function storeThatGivesUp(times: number): Pick<Store, 'read'> & { readCount: number } {
  return {
    readCount: 0,
    async read(reads): Promise<readonly StoreRows[]> {
      this.readCount += 1;
      if (this.readCount <= times) throw new StoreError('conflict', 'restart transaction');
      return reads.map(() => ({ rows: [heldTitle], complete: true }));
    },
  };
}

test('the row in the way of a commit is looked for again where the database gave the look-up up', async (t) => {
  const store = storeThatGivesUp(12);
  const clock = new FakeClock();
  const commit = { writes: [{ table: title, put: requestedTitle, isNew: true }] };
  const [rejection] = await findRejections({ store, clock }, [commit]);
  t.deepEqual(rejection, { conflicting: [{ table: title, row: heldTitle }], isRival: false });
  t.is(store.readCount, 13);
  const error = await t.throwsAsync(findRejections({ store: storeThatGivesUp(13), clock }, [commit]), {
    instanceOf: StoreError,
  });
  t.is(error?.failure, 'conflict');
});
