import test from 'ava';
import { DialPace, dialsPerTurn, turnMs } from './dial-pace.ts';

function world() {
  const due: (() => void)[] = [];
  const delaysMs: number[] = [];
  const pace = new DialPace({
    schedule(delayMs, work) {
      due.push(work);
      delaysMs.push(delayMs);
      return () => {};
    },
  });
  const wentOn: number[] = [];
  return {
    wentOn,
    due,
    delaysMs,
    dial: (client: number) => void pace.next().then(() => wentOn.push(client)),
    /** The event loop comes to the pace, however late. */
    async turn() {
      for (const work of due.splice(0)) work();
      await settled();
    },
  };
}

/** Until all promises that can be kept without a turn of the loop are. */
async function settled(): Promise<void> {
  for (let step = 0; step < 10; step += 1) await Promise.resolve();
}

test('a few clients go on at once, the others in the next turns, in the order in which they came', async (t) => {
  const { wentOn, dial, turn } = world();
  const crowd = Array.from({ length: 2 * dialsPerTurn + 1 }, (_, index) => index);
  for (const client of crowd) dial(client);
  await settled();
  t.deepEqual(wentOn, crowd.slice(0, dialsPerTurn));
  await turn();
  t.deepEqual(wentOn, crowd.slice(0, 2 * dialsPerTurn));
  await turn();
  t.deepEqual(wentOn, crowd);
});

test('a client that comes while others wait does not overtake them', async (t) => {
  const { wentOn, dial, turn } = world();
  for (let client = 0; client < dialsPerTurn + 2; client += 1) dial(client);
  await turn();
  for (let client = dialsPerTurn + 2; client < 3 * dialsPerTurn; client += 1) dial(client);
  await settled();
  t.deepEqual(wentOn, [...wentOn.keys()]);
  t.is(wentOn.length, 2 * dialsPerTurn);
});

test('between two turns is time for everybody else', async (t) => {
  const { delaysMs, dial, turn } = world();
  for (let client = 0; client < 2 * dialsPerTurn; client += 1) dial(client);
  await turn();
  t.deepEqual(delaysMs, [turnMs, turnMs]);
});

test('once nobody dials any more, it leaves the event loop alone', async (t) => {
  const { due, dial, turn } = world();
  dial(0);
  t.is(due.length, 1);
  await turn();
  t.is(due.length, 0);
});
