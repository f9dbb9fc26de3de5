import test from 'ava';
import { drainPromises } from '../../../test/kit/clock.ts';
import { GatheredStatements } from './gathered.ts';

/** Its statements end when the test says so. */
function createGathered(atOnceMax: number, unanswered: ReadonlySet<number> = new Set()) {
  const statements: (number | readonly number[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const ended = (): Promise<void> =>
    new Promise((resolve, reject) => {
      ends.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  const gathered = new GatheredStatements<number, string>({
    concurrencyMax: atOnceMax,
    batchMax: 3,
    one: async (request) => {
      statements.push(request);
      await ended();
      return `${request} alone`;
    },
    many: async (requests) => {
      statements.push(requests);
      await ended();
      const answers = requests.map((each, index) => [index, `${each} together`] as const);
      return new Map(answers.filter((_, index) => !unanswered.has(requests[index] as number)));
    },
  });
  const end = async (error?: Error) => {
    ends.shift()?.(error);
    await drainPromises();
  };
  return { gathered, statements, end };
}

test('the first askers have statements of their own, and those who come meanwhile share the next ones', async (t) => {
  const { gathered, statements, end } = createGathered(2);
  const answers = Promise.all([1, 2, 3, 4, 5, 6].map((each) => gathered.ask(each)));
  t.deepEqual(statements, [1, 2]);
  await end();
  t.deepEqual(statements, [1, 2, [3, 4, 5]]);
  for (let left = 0; left < 3; left += 1) await end();
  t.deepEqual(statements, [1, 2, [3, 4, 5], 6]);
  t.deepEqual(await answers, ['1 alone', '2 alone', '3 together', '4 together', '5 together', '6 alone']);
});

test('an asker that the common statement does not answer is served alone, and keeps no other waiting', async (t) => {
  const { gathered, statements, end } = createGathered(1, new Set([3]));
  const answers = [1, 2, 3].map((each) => gathered.ask(each));
  await end();
  await end();
  t.deepEqual(statements, [1, [2, 3], 3]);
  t.is(await answers[1], '2 together');
  const next = gathered.ask(4);
  t.deepEqual(statements, [1, [2, 3], 3, 4]);
  await end();
  await end();
  t.deepEqual([await answers[2], await next], ['3 alone', '4 alone']);
});

test('where a common statement fails, each is asked for alone and fails by itself', async (t) => {
  const { gathered, statements, end } = createGathered(1);
  const [first, second, third] = [1, 2, 3].map((each) => gathered.ask(each));
  await end();
  await end(new Error('the connection broke'));
  t.deepEqual(statements, [1, [2, 3], 2, 3]);
  const failed = t.throwsAsync(second as Promise<string>, { message: 'refused' });
  await end(new Error('refused'));
  await end();
  await failed;
  t.deepEqual([await first, await third], ['1 alone', '3 alone']);
});
