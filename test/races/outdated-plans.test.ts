/**
 * Turns that request rows based on the writes of earlier turns, while the database is slow, fails and loses answers.
 * Each is finally planned from the real state, and takes effect once.
 */
import test from 'ava';
import { z } from 'zod';
import { command, keys, type View } from '../../runtime/command.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { StoreError } from '../../runtime/store/store.ts';
import { table } from '../../runtime/table.ts';
import { drainPromises, FakeClock } from '../kit/clock.ts';
import { startTestHost } from '../kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../kit/model-store/model-store.ts';
import { SeededRandom } from '../kit/random.ts';

const calls = 120;
const height = slice({ name: 'height', format: 1, schema: z.number(), initial: 0 });
const plate = table({
  name: 'plate',
  columns: { owner: 'text', number: 'int8', label: 'text' },
  key: ['owner', 'number'],
});
const shardsOf = (view: View) =>
  Array.from({ length: view.get(height) }, (_, index) => ({ owner: view.self.id, number: index + 1 }));

const stack = kind({
  name: 'stack',
  slices: [height],
  tables: [plate],
  commands: {
    push: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        reads: (view) => ({ next: keys(plate, [{ owner: view.self.id, number: view.get(height) + 1 }]) }),
        turn: (turn, label, { next }) => {
          const key = { owner: turn.self.id, number: turn.get(height) + 1 };
          if (next.get(key) !== undefined) throw new Error('the number is taken');
          turn.put(plate, { ...key, label });
          turn.set(height, key.number);
          return null;
        },
      },
    ),
    pop: command(
      { request: z.null(), reply: z.string().nullable() },
      {
        creates: true,
        repeat: 'recorded',
        reads: (view) => ({ last: keys(plate, shardsOf(view).slice(-1)) }),
        turn: (turn, _, { last }) => {
          const [key] = shardsOf(turn).slice(-1);
          if (key === undefined) return null;
          const row = last.get(key);
          if (row === undefined) throw new Error('nothing has the number');
          turn.remove(plate, key);
          turn.set(height, key.number - 1);
          return row.label;
        },
      },
    ),
    labels: command(
      { request: z.null(), reply: z.array(z.string()) },
      {
        creates: true,
        reads: (view) => ({ all: keys(plate, shardsOf(view)) }),
        turn: (turn, _, { all }) => shardsOf(turn).map((key) => all.get(key)?.label ?? 'none'),
      },
    ),
  },
});

/** The faults of database calls, until `calm`. */
function moody(random: SeededRandom) {
  let isCalm = false;
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (isCalm) return apply();
    for (let left = random.below(30); left > 0; left -= 1) await undefined;
    const isCommit = method === 'commit';
    if (isCommit && random.chance(0.06)) throw new StoreError(random.pick(['unavailable', 'conflict']), '');
    const result = apply();
    if (isCommit && random.chance(0.06)) throw new StoreError('unknown', '');
    return result;
  };
  const calm = () => {
    isCalm = true;
  };
  return { schedule, calm };
}

for (let seed = 1; seed <= 10; seed += 1) {
  test(`turns ask for rows that are planned from the state they find (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const clock = new FakeClock();
    const database = new ModelDatabase(clock);
    const { schedule, calm } = moody(random);
    const store = new ModelStore(database, schedule);
    const { actors } = await startTestHost({ kinds: [stack], clock, database, store });
    const { ask } = actors.get(stack, 'a');
    const pushed: string[] = [];
    const popped: string[] = [];
    const received: (readonly string[])[] = [];
    const call = async <T>(pending: Promise<T>, onAnswer: (answer: T) => unknown) => {
      try {
        onAnswer(await pending);
      } catch (error) {
        // It took no effect.
        if (!(error instanceof UnavailableError)) throw error;
      }
    };
    const any = (label: string): Promise<void> => {
      if (random.chance(0.5)) return call(ask.push(label), () => pushed.push(label));
      if (random.chance(0.5)) return call(ask.pop(null), (top) => top !== null && popped.push(top));
      return call(ask.labels(null), (labels) => received.push(labels));
    };

    const pending: Promise<void>[] = [];
    for (let count = 0; count < calls; count += 1) {
      pending.push(any(`plate ${count}`));
      for (let left = random.below(12); left > 0; left -= 1) await undefined;
    }
    let isOver = false;
    const all = Promise.all(pending).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await clock.advance(20);
      await drainPromises();
    }
    await all;
    calm();
    received.push(await ask.labels(null));

    for (const labels of received) {
      t.false(labels.includes('none'));
      t.is(new Set(labels).size, labels.length);
    }
    t.deepEqual([...popped, ...(received.at(-1) ?? [])].toSorted(), pushed.toSorted());
  });
}
