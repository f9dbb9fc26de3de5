import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { latch } from '../kit/gateway.ts';
import { SeededRandom } from '../kit/random.ts';
import { openClient } from './client.ts';
import { type Finishing, finishAll } from './finish.ts';
import { failuresOf, Tally } from './tally.ts';

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
  await nextTurn();
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

const timeoutMs = 1_000;

/**
 * A server, a device with a last request to it, and a check of the history. The check stops this process for longer than a
 * request waits.
 */
async function startLoad(t: ExecutionContext) {
  const answered = latch();
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{}', () => answered.open());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const tally = new Tally();
  const options = { gateways: [`http://127.0.0.1:${port}`], tally, timeoutMs };
  const client = openClient('device', new SeededRandom(1), options, () => false);
  const device: Finishing = {
    async finish() {
      await client.call({ method: 'POST', path: '/v1/items', body: {} });
    },
  };
  const people: Finishing = {
    async finish() {
      await answered.promise;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * timeoutMs);
    },
  };
  return { device, people, unanswered: () => failuresOf(tally.calls)['no-answer'] };
}

test.serial(
  'a request beside the check of the whole history counts as one without an answer, though the server has answered it',
  async (t) => {
    const { device, people, unanswered } = await startLoad(t);
    await Promise.all([device.finish(), people.finish()]);
    t.is(unanswered(), 1);
  },
);

test.serial('the same request has its answer when the parts of the load end one after another', async (t) => {
  const { device, people, unanswered } = await startLoad(t);
  t.deepEqual(await finishAll([device, people]), []);
  t.is(unanswered(), 0);
});
