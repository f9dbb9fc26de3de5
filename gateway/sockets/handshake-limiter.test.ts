import test from 'ava';
import { HandshakeLimiter, handshakesPerTurn, turnMs, waitingMax } from './handshake-limiter.ts';

function world() {
  const due: (() => void)[] = [];
  const delaysMs: number[] = [];
  const limiter = new HandshakeLimiter({
    schedule(delayMs, work) {
      due.push(work);
      delaysMs.push(delayMs);
      return () => {};
    },
  });
  const admitted: number[] = [];
  const refused: number[] = [];
  return {
    wentOn: admitted,
    refused,
    due,
    delaysMs,
    connect: (client: number) =>
      void limiter.next().then((isAdmitted) => (isAdmitted ? admitted : refused).push(client)),
    /** The event loop comes to the limiter, however late. */
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
  const { wentOn, connect: dial, turn } = world();
  const crowd = Array.from({ length: 2 * handshakesPerTurn + 1 }, (_, index) => index);
  for (const client of crowd) dial(client);
  await settled();
  t.deepEqual(wentOn, crowd.slice(0, handshakesPerTurn));
  await turn();
  t.deepEqual(wentOn, crowd.slice(0, 2 * handshakesPerTurn));
  await turn();
  t.deepEqual(wentOn, crowd);
});

test('a client that comes while others wait does not overtake them', async (t) => {
  const { wentOn, connect: dial, turn } = world();
  for (let client = 0; client < handshakesPerTurn + 2; client += 1) dial(client);
  await turn();
  for (let client = handshakesPerTurn + 2; client < 3 * handshakesPerTurn; client += 1) dial(client);
  await settled();
  t.deepEqual(wentOn, [...wentOn.keys()]);
  t.is(wentOn.length, 2 * handshakesPerTurn);
});

test('between two turns is time for everybody else', async (t) => {
  const { delaysMs, connect: dial, turn } = world();
  for (let client = 0; client < 2 * handshakesPerTurn; client += 1) dial(client);
  await turn();
  t.deepEqual(delaysMs, [turnMs, turnMs]);
});

test('once nobody dials any more, it leaves the event loop alone', async (t) => {
  const { due, connect: dial, turn } = world();
  dial(0);
  t.is(due.length, 1);
  await turn();
  t.is(due.length, 0);
});

test('sixteen thousand clients that connect at once all wait, and are served within twenty seconds', async (t) => {
  const { connect: dial, refused, turn, wentOn } = world();
  const crowd = 16_000;
  for (let client = 0; client < crowd; client += 1) dial(client);
  await settled();
  t.deepEqual(refused, []);
  for (let nowMs = 0; nowMs < 20_000; nowMs += turnMs) await turn();
  t.is(wentOn.length, crowd);
});

test('a client that would wait longer than its request may take is refused at once', async (t) => {
  const { connect: dial, refused, turn } = world();
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

test('a crowd of any size that comes again after each refusal is served as fast as the limiter allows', async (t) => {
  const { connect: dial, refused, turn, wentOn } = world();
  const crowd = 5 * waitingMax;
  const requestMs = 25_000;
  const turns: number[] = [];
  for (let client = 0; client < crowd; client += 1) dial(client);
  await settled();
  let nowMs = 0;
  while (wentOn.length < crowd) {
    await turn();
    nowMs += turnMs;
    turns.push(wentOn.length);
    // Refused clients come again after a second.
    if (nowMs % 1_000 === 0) for (const client of refused.splice(0)) dial(client);
  }
  t.true((waitingMax / handshakesPerTurn) * turnMs < requestMs);
  t.deepEqual(new Set(wentOn).size, crowd);
  t.true(turns.length <= crowd / handshakesPerTurn + 1_000 / turnMs);
});
