import test from 'ava';
import { forEachConcurrently, groups } from './context.ts';
import { uploadPartsOf } from './files/import.ts';

async function all<T>(of: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of of) found.push(each);
  return found;
}

test('a group ends with the one by which it reaches its bytes, or its number', async (t) => {
  t.deepEqual(await all(groups([1, 2, 3, 4, 5], 2)), [[1, 2], [3, 4], [5]]);
  t.deepEqual(await all(groups([1, 9, 1, 1], 10, 10, (bytes) => bytes)), [
    [1, 9],
    [1, 1],
  ]);
  t.deepEqual(await all(groups([], 2)), []);
});

test('no more run at once than may, and the first failure ends the rest', async (t) => {
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const work = async (each: number) => {
    begun.push(each);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (each === 3) throw new Error('the third');
  };
  await t.throwsAsync(forEachConcurrently([1, 2, 3, 4, 5, 6, 7, 8], 2, work), { message: 'the third' });
  t.is(most, 2);
  t.true(begun.length < 8);
});

test('a file is cut into parts of one length, however its bytes come', async (t) => {
  async function* body() {
    yield Buffer.from('ab');
    yield Buffer.from('cdefgh');
    yield Buffer.from('i');
  }
  const parts = (await all(uploadPartsOf(body(), 4))).map(String);
  t.deepEqual(parts, ['abcd', 'efgh', 'i']);
});
