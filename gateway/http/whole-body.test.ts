import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { z } from 'zod';
import { FakeClock } from '../../test/kit/clock.ts';
import { BodyMemory, type JsonObject } from './body.ts';
import { LargeBodies } from './large-bodies.ts';
import type { HttpRefusal } from './refusal.ts';
import { route } from './route.ts';
import { UploadScheduler } from './upload-scheduler.ts';
import type { HttpResponse } from './uws.ts';
import { WholeBody } from './whole-body.ts';

const mebibyte = 1024 * 1024;

/** A body on a connection that records when it is held back and released. */
function world() {
  const calls: string[] = [];
  const ended: unknown[] = [];
  let give: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  const res = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    onData(handler: typeof give) {
      give = handler;
    },
  } as unknown as HttpResponse;
  const options = {
    clock: new FakeClock(),
    bodyMemory: new BodyMemory(100 * mebibyte),
    uploadScheduler: new UploadScheduler({ userBytes: 1, allBytes: 1 }),
    largeBodies: new LargeBodies(),
    checkSession: async () => undefined,
    limits: {
      smallBodyBytes: 0,
      largeBodyBytes: 0,
      bodyTimeoutMs: 0,
      minimumThroughput: { bytes: 1, windowMs: 1 },
    },
  };
  const recipient = {
    startedMs: 0,
    received: (fields: JsonObject) => ended.push(fields),
    refused: (refusal: HttpRefusal) => ended.push(refusal),
    failed: (error: unknown) => ended.push(error),
    waitsForBody() {},
    bodyEnded() {},
  };
  const takesJson = route({
    ...({ method: 'POST', path: '/v1/x', access: 'public', summary: '', tag: '' } as const),
    request: z.object({}),
    replies: {},
    handle: async () => ({ status: 204 }),
  });
  const head = {
    route: takesJson,
    credentials: undefined,
    address: () => '192.0.2.1',
    bytesMax: 100 * mebibyte,
    declaredBytes: 0,
  };
  const body = new WholeBody(res, head, options, recipient);
  body.start();
  return {
    body,
    ended,
    newCalls: () => calls.splice(0),
    give: (text: string, isLast = false) => give(new Uint8Array(Buffer.from(text)).buffer, isLast),
  };
}

const half = 'x'.repeat(mebibyte / 2);

test('a large body that comes at once is held back at each mebibyte until the loop has turned', async (t) => {
  const { give, newCalls, ended } = world();
  give('{"api":"');
  give(half);
  t.deepEqual(newCalls(), []);
  give(half);
  t.deepEqual(newCalls(), ['pause']);
  // The bytes that the library had received by then.
  give(half);
  t.deepEqual(newCalls(), []);
  await setImmediate();
  t.deepEqual(newCalls(), ['resume']);
  give(half);
  give(half);
  t.deepEqual(newCalls(), ['pause']);
  await setImmediate();
  t.deepEqual(newCalls(), ['resume']);
  give('"}', true);
  for (let turns = 0; ended.length === 0 && turns < 1_000; turns += 1) await setImmediate();
  t.deepEqual([ended, newCalls()], [[{ api: half.repeat(5) }], []]);
});

test('a body whose connection has ended while it was held back is not resumed', async (t) => {
  const { body, give, newCalls } = world();
  give(half);
  give(half);
  body.end();
  await setImmediate();
  t.deepEqual(newCalls(), ['pause']);
});
