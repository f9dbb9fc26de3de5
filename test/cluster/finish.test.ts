import test from 'ava';
import { latch } from '../kit/gateway.ts';
import { finishAll } from './finish.ts';

test('a part ends only after the requests of the one before have been answered', async (t) => {
  const answered = latch();
  const ends: string[] = [];
  const devices = {
    async finish() {
      await answered.promise;
      ends.push('devices');
    },
  };
  const people = {
    async finish() {
      ends.push('people');
    },
  };
  const finished = finishAll([devices, people]);
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(ends, []);
  answered.open();
  t.deepEqual(await finished, []);
  t.deepEqual(ends, ['devices', 'people']);
});

test('a part that cannot end is told of, and the next one ends all the same', async (t) => {
  let isOver = false;
  const stuck = { finish: () => Promise.reject(new Error('no answer')) };
  const other = {
    async finish() {
      isOver = true;
    },
  };
  t.deepEqual(await finishAll([stuck, other]), ['the workload did not finish: no answer']);
  t.true(isOver);
});
