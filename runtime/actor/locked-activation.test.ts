import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { addAnew, count } from '../../test/kit/ledger.ts';
import { ModelDatabase } from '../../test/kit/model-store/model-store.ts';
import { UnavailableError } from '../errors.ts';
import { kind } from '../kind.ts';

const till = kind({
  name: 'till',
  slices: [count],
  commands: {
    add: addAnew,
  },
});
const address = (id: string) => ({ kind: till.name, id });

async function setUp() {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const { actors, host } = await startTestHost({
    kinds: [till],
    clock,
    database,
    limits: { activationsMax: 1 },
  });
  const answers = new Map<string, unknown>();
  const add = (id: string) =>
    actors
      .get(till, id)
      .ask.add(1)
      .then(
        (value) => answers.set(id, value),
        (error: unknown) => answers.set(id, error),
      );
  return { clock, database, host, answers, add };
}

test('an actor whose row is locked is brought into memory once it is free, and takes no place of others', async (t) => {
  const { clock, database, host, answers, add } = await setUp();
  const locked = ['ada', 'bob', 'cyd'];
  for (const id of locked) database.lock(address(id));
  for (const id of [...locked, 'dan']) void add(id);
  await clock.advance(5);
  t.deepEqual([...answers], [['dan', 1]]);
  t.false(host.isIdle);
  for (const id of locked) database.unlock(address(id));
  await clock.advance(1_000);
  t.deepEqual(
    locked.map((id) => answers.get(id)),
    [1, 1, 1],
  );
  await clock.advance(1_000);
  t.true(host.isIdle);
});

test('one whose row stays locked is given up while its callers still wait', async (t) => {
  const { clock, database, host, answers, add } = await setUp();
  database.lock(address('ada'));
  void add('ada');
  await clock.advance(7_000);
  t.true(answers.get('ada') instanceof UnavailableError);
  t.true(host.isIdle);
  database.unlock(address('ada'));
  await add('ada');
  t.is(answers.get('ada'), 1);
});
