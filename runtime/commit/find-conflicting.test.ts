import test from 'ava';
import { type Store, StoreError, type StoreRows } from '../store/store.ts';
import { table } from '../table.ts';
import { findRejections } from './find-conflicting.ts';

const title = table({
  name: 'title',
  columns: { owner: 'text', name: 'text', born: 'int8' },
  key: ['owner', 'name'],
  generation: 'born',
  unique: [['name']],
});
const wanted = { owner: 'ada', name: 'notes', born: 1 };
const held = { owner: 'bob', name: 'notes', born: 1 };

/** It gives the first reads up. */
function storeThatGivesUp(times: number): Pick<Store, 'read'> & { asked: number } {
  return {
    asked: 0,
    async read(reads): Promise<readonly StoreRows[]> {
      this.asked += 1;
      if (this.asked <= times) throw new StoreError('conflict', 'restart transaction');
      return reads.map(() => ({ rows: [held], complete: true }));
    },
  };
}

test('what is in the way of a commit is looked for again where the database gave the look-up up', async (t) => {
  const store = storeThatGivesUp(3);
  const commit = { writes: [{ table: title, put: wanted, isNew: true }] };
  const [rejection] = await findRejections(store, [commit]);
  t.deepEqual(rejection, { conflicting: [{ table: title, row: held }], isRival: false });
  t.is(store.asked, 4);
  const error = await t.throwsAsync(findRejections(storeThatGivesUp(4), [commit]), {
    instanceOf: StoreError,
  });
  t.is(error?.failure, 'conflict');
});
