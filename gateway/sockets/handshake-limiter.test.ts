import test from 'ava';
import {
  HandshakeLimiter,
  handshakesPerTurn,
  lateMax,
  runningMax,
  slowMs,
  turnMs,
  waitingMax,
  waitMaxMs,
} from './handshake-limiter.ts';

/** Handshakes end at once, unless they are `held`. */
function world() {
  const due: (() => void)[] = [];
  const delaysMs: number[] = [];
  let nowMs = 0;
  const limiter = new HandshakeLimiter({
    monotonicMs: () => nowMs,
    schedule(delayMs, work) {
      due.push(work);
      delaysMs.push(delayMs);
      return () => {};
    },
  });
  const begun: number[] = [];
  const refused: number[] = [];
  const ending: (() => void)[] = [];
  const dialWith = (client: number, handshake: () => Promise<void>, withinMs?: number) =>
    void limiter
      .run(
        async () => {
          begun.push(client);
          await handshake();
          return 'admitted';
        },
        'refused',
        withinMs,
      )
      .then((outcome) => outcome === 'refused' && refused.push(client));
  return {
    begun,
    refused,
    ending,
    due,
    delaysMs,
    dial: (client: number) => dialWith(client, async () => {}),
    dialWithin: (client: number, withinMs: number) => dialWith(client, async () => {}, withinMs),
    failing: () => limiter.run(() => Promise.reject(new Error('the host is gone')), undefined),
    dialHeld: (client: number) => dialWith(client, () => new Promise((end) => ending.push(end))),
    /** The event loop comes to the limiter, however late. */
    async turn(lateMs = 0) {
      nowMs += turnMs + lateMs;
      for (const work of due.splice(0)) work();
      await settled();
    },
  };
}

/** Until all promises that can be kept without a turn of the loop are. */
async function settled(): Promise<void> {
  for (let step = 0; step < 10; step += 1) await Promise.resolve();
}

const crowdOf = (size: number) => Array.from({ length: size }, (_, index) => index);

test('a few clients proceed at once, the others in the next turns, in the order in which they came', async (t) => {
  const { begun, dial, turn } = world();
  const crowd = crowdOf(2 * handshakesPerTurn + 1);
  for (const client of crowd) dial(client);
  await settled();
  t.deepEqual(begun, crowd.slice(0, handshakesPerTurn));
  await turn();
  t.deepEqual(begun, crowd.slice(0, 2 * handshakesPerTurn));
  await turn();
  t.deepEqual(begun, crowd);
});

test('a client that comes while others wait does not overtake them', async (t) => {
  const { begun, dial, turn } = world();
  for (let client = 0; client < handshakesPerTurn + 2; client += 1) dial(client);
  await turn();
  for (let client = handshakesPerTurn + 2; client < 3 * handshakesPerTurn; client += 1) dial(client);
  await settled();
  t.deepEqual(begun, [...begun.keys()]);
  t.is(begun.length, 2 * handshakesPerTurn);
});

test('while as many handshakes as may be under way take their time, no further one begins', async (t) => {
  const { begun, dialHeld, ending, turn } = world();
  for (const client of crowdOf(3 * runningMax)) dialHeld(client);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  t.deepEqual(begun, crowdOf(runningMax));
  ending.shift()?.();
  await settled();
  await turn();
  t.deepEqual(begun, crowdOf(runningMax + 1));
});

test('handshakes that nobody answers hold up the others for a tenth of a second', async (t) => {
  const { begun, dial, dialHeld, turn } = world();
  for (const client of crowdOf(runningMax)) dialHeld(client);
  dial(runningMax);
  for (let passedMs = turnMs; passedMs < slowMs; passedMs += turnMs) await turn();
  t.deepEqual(begun, crowdOf(runningMax));
  await turn();
  await turn();
  t.deepEqual(begun, crowdOf(runningMax + 1));
});

test('a handshake that fails makes way for the next, and its caller hears of it', async (t) => {
  const { begun, dial, failing, turn } = world();
  for (let failures = 0; failures < runningMax; failures += 1) {
    await t.throwsAsync(failing(), { message: 'the host is gone' });
    await turn();
  }
  dial(0);
  await settled();
  t.deepEqual(begun, [0]);
});

test('while a third of the users have no host, hundreds of others are served a second', async (t) => {
  const { begun, dial, dialHeld, turn } = world();
  for (const client of crowdOf(3_000)) (client % 3 === 0 ? dialHeld : dial)(client);
  for (let nowMs = 0; nowMs < 1_000; nowMs += turnMs) await turn();
  t.true(begun.length > 400, `${begun.length}`);
});

test('between two turns is time for everybody else', async (t) => {
  const { delaysMs, dial, turn } = world();
  for (let client = 0; client < 2 * handshakesPerTurn; client += 1) dial(client);
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

test('twenty thousand clients that connect at once all wait, and are served within twenty seconds', async (t) => {
  const { dial, refused, turn, begun } = world();
  const crowd = 20_000;
  for (let client = 0; client < crowd; client += 1) dial(client);
  await settled();
  t.deepEqual(refused, []);
  for (let nowMs = 0; nowMs < 20_000; nowMs += turnMs) await turn();
  t.is(begun.length, crowd);
});

test('a client that would wait longer than its request may take is refused at once', async (t) => {
  const { dial, refused, turn } = world();
  const served = handshakesPerTurn + waitingMax;
  for (let client = 0; client < served; client += 1) dial(client);
  await settled();
  t.deepEqual(refused, []);
  dial(served);
  await settled();
  t.deepEqual(refused, [served]);
  await turn();
  dial(served + 1);
  await settled();
  t.deepEqual(refused, [served]);
});

test('a client whose turn does not come in time, as turns come late, is refused', async (t) => {
  const { begun, dial, refused, turn } = world();
  for (const client of crowdOf(2 * handshakesPerTurn)) dial(client);
  await turn(waitMaxMs);
  t.deepEqual(begun, crowdOf(handshakesPerTurn));
  t.deepEqual(refused, crowdOf(2 * handshakesPerTurn).slice(handshakesPerTurn));
});

test('clients who are all late are refused some at a time', async (t) => {
  const { dial, refused, turn } = world();
  for (const client of crowdOf(handshakesPerTurn + lateMax + 1)) dial(client);
  await turn(waitMaxMs);
  t.is(refused.length, lateMax);
  await turn();
  t.is(refused.length, lateMax + 1);
});

test('a client may wait less than the others', async (t) => {
  const { begun, dial, dialWithin, refused, turn } = world();
  for (const client of crowdOf(handshakesPerTurn)) dial(client);
  dialWithin(handshakesPerTurn, 5_000);
  dial(handshakesPerTurn + 1);
  await turn(5_000);
  t.deepEqual(refused, [handshakesPerTurn]);
  t.is(begun.at(-1), handshakesPerTurn + 1);
});

test('a crowd of any size that comes again after each refusal is served as fast as the limiter allows', async (t) => {
  const { dial, refused, turn, begun } = world();
  const crowd = 5 * waitingMax;
  const requestMs = 25_000;
  const turns: number[] = [];
  for (let client = 0; client < crowd; client += 1) dial(client);
  await settled();
  let nowMs = 0;
  while (begun.length < crowd) {
    await turn();
    nowMs += turnMs;
    turns.push(begun.length);
    // Refused clients come again after a second.
    if (nowMs % 1_000 === 0) for (const client of refused.splice(0)) dial(client);
  }
  t.true(waitMaxMs < requestMs);
  t.deepEqual(new Set(begun).size, crowd);
  t.true(turns.length <= crowd / handshakesPerTurn + 1_000 / turnMs);
});
