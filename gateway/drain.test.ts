import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { latch, openRaw, startGateway, turn } from '../test/kit/gateway.ts';
import { type AnyRoute, route } from './http/route.ts';

const now: AnyRoute = route({
  method: 'POST',
  path: '/v1/now',
  access: 'public',
  summary: 'Answers at once.',
  tag: 'Test',
  request: z.looseObject({}),
  replies: { 200: z.object({}) },
  handle: async () => ({ status: 200, body: {} }),
});

const request = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

/** `/v1/slow`, which is answered once `held` opens; `begun` opens with its request. */
function slowRoute() {
  const begun = latch();
  const held = latch();
  const slow = route({
    ...now,
    path: '/v1/slow',
    handle: async () => {
      begun.open();
      await held.promise;
      return { status: 200, body: {} };
    },
  });
  return { slow, begun, held };
}

/** Resolves once the port accepts no connection any more. */
async function refusing(t: ExecutionContext, port: number): Promise<void> {
  for (;;) {
    const connection = await openRaw(t, port).catch(() => undefined);
    if (connection === undefined) return;
    connection.socket.destroy();
  }
}

/** A connection on which one request was answered. */
async function used(t: ExecutionContext, port: number) {
  const connection = await openRaw(t, port);
  connection.send(request('/v1/now'));
  await connection.received('HTTP/1.1 200');
  return connection;
}

/** Whether it has resolved by now. */
function stateOf(promise: Promise<unknown>) {
  const state = { isOver: false };
  void promise.then(() => {
    state.isOver = true;
  });
  return state;
}

const lastReply = /HTTP\/1\.1 200 OK[\s\S]*Connection: close/;

test('draining turns readiness red, refuses new connections and finishes what is in flight', async (t) => {
  const { slow, begun, held } = slowRoute();
  const { gateway, port, url, readiness } = await startGateway(t, [slow]);
  const answer = fetch(`${url}/v1/slow`, { method: 'POST' });
  await begun.promise;
  const drained = gateway.drain();
  t.false((await readiness.report()).ready);
  await refusing(t, port);
  held.open();
  const response = await answer;
  t.is(response.status, 200);
  t.is(response.headers.get('connection'), 'close');
  await drained;
});

test('a drain ends no connection on which somebody goes on asking, but by the reply', async (t) => {
  const { gateway, port } = await startGateway(t, [now]);
  const [first, second] = [await used(t, port), await used(t, port)];
  const drained = gateway.drain();
  await refusing(t, port);
  first.send(request('/v1/now'));
  t.regex(await first.ended, /HTTP\/1\.1 200 OK[\s\S]*HTTP\/1\.1 200 OK[\s\S]*Connection: close/);
  await drained;
  t.notRegex(await second.ended, /Connection: close/);
});

test('a drain waits for the reply to a request that came after its beginning, however long that takes', async (t) => {
  const { slow, begun, held } = slowRoute();
  const clock = new FakeClock();
  const { gateway, port } = await startGateway(t, [slow], { clock, drainTimeoutMs: 10_000 });
  const connection = await openRaw(t, port);
  const drained = gateway.drain();
  const state = stateOf(drained);
  await refusing(t, port);
  connection.send(request('/v1/slow'));
  await begun.promise;
  await clock.advance(8_000);
  t.false(state.isOver);
  held.open();
  t.regex(await connection.ended, lastReply);
  while (!state.isOver) await clock.advance(100);
  await drained;
});

test('a connection that the system has accepted when a drain begins is served', async (t) => {
  const { gateway, port } = await startGateway(t, [now]);
  const opening = openRaw(t, port);
  // The system completes the connection at once, and this process gets to it in a later turn.
  await new Promise((resolve) => process.nextTick(resolve));
  const drained = gateway.drain();
  const connection = await opening;
  await refusing(t, port);
  connection.send(request('/v1/now'));
  t.regex(await connection.ended, lastReply);
  await drained;
});

test('a busy server accepts connections and ends none by a reply until a turn of its loop is quick', async (t) => {
  let isBusy = false;
  let nowMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => {
      if (isBusy) nowMs += 3;
      return nowMs;
    },
  };
  const { gateway, port } = await startGateway(t, [now], { clock });
  const first = await openRaw(t, port);
  isBusy = true;
  const drained = gateway.drain();
  first.send(request('/v1/now'));
  const reply = await first.received('\r\n\r\n');
  t.notRegex(reply, /Connection: close/);
  const second = await used(t, port);
  isBusy = false;
  await refusing(t, port);
  for (const connection of [first, second]) {
    connection.send(request('/v1/now'));
    t.regex(await connection.ended, lastReply);
  }
  await drained;
});

test('a server that never has a quick turn stops accepting within a second', async (t) => {
  let nowMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => {
      nowMs += 100;
      return nowMs;
    },
  };
  const { gateway, port } = await startGateway(t, [now], { clock });
  const drained = gateway.drain();
  await refusing(t, port);
  await drained;
  t.pass();
});

test('a drain closes connections without a reply only once their clients had time to close them', async (t) => {
  const clock = new FakeClock();
  const { gateway, port } = await startGateway(t, [now], { clock, drainIdleMs: 5_500 });
  const [asks, closes] = [await used(t, port), await used(t, port)];
  const drained = gateway.drain();
  const state = stateOf(drained);
  await refusing(t, port);
  await clock.advance(5_000);
  t.false(state.isOver);
  asks.send(request('/v1/now'));
  t.regex(await asks.ended, lastReply);
  await clock.advance(3_000);
  t.false(state.isOver, 'a request begins the wait anew');
  closes.socket.end();
  await closes.ended;
  while (!state.isOver) await clock.advance(500);
  t.true(clock.monotonicMs() < 10_000, 'nobody is waited for any more');
  await drained;
});

test('in the last second of a drain half a second without a request is enough', async (t) => {
  const clock = new FakeClock();
  const { gateway, port } = await startGateway(t, [now], { clock, drainIdleMs: 60_000 });
  const connection = await used(t, port);
  const state = stateOf(gateway.drain());
  await refusing(t, port);
  await clock.advance(8_500);
  t.false(state.isOver);
  await clock.advance(1_000);
  await connection.ended;
  t.true(state.isOver);
});

test('a request that arrives at the last moment of the quiet time is waited for', async (t) => {
  const { slow, begun, held } = slowRoute();
  const waiting: (() => void)[] = [];
  const schedule = (delayMs: number, fire: () => void) => {
    if (delayMs === 500) waiting.push(fire);
    return () => {};
  };
  const clock = { nowMs: () => 0, nowMicros: () => 0, monotonicMs: () => 0, schedule };
  const { gateway, port } = await startGateway(t, [slow], { clock });
  const connection = await openRaw(t, port);
  const drained = gateway.drain();
  const state = stateOf(drained);
  while (waiting.length === 0) await turn();
  // The system has the bytes at once, and this process gets to them in a later turn.
  connection.send(request('/v1/slow'));
  waiting.shift()?.();
  await begun.promise;
  held.open();
  t.regex(await connection.ended, lastReply);
  while (!state.isOver) {
    for (const fire of waiting.splice(0)) fire();
    await turn();
  }
});
