import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { emptyRoute } from '../../test/kit/gateway.ts';
import { BodyMemory } from './body.ts';
import { queueBytesMax } from './body-stream.ts';
import { LargeBodies } from './large-bodies.ts';
import type { ReceivingOptions, Recipient } from './receiving.ts';
import { StreamedBody } from './streamed-body.ts';
import type { HttpResponse } from './uws.ts';

/** A body on a connection that notes when it is held back and let go. */
function world() {
  const calls: string[] = [];
  let give: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  const res = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    onData(handler: typeof give) {
      give = handler;
    },
  } as unknown as HttpResponse;
  const options: ReceivingOptions = {
    clock: new FakeClock(),
    bodyMemory: new BodyMemory(10_000_000),
    largeBodies: new LargeBodies(),
    checkSession: async () => undefined,
    limits: {
      smallBodyBytes: 0,
      largeBodyBytes: 0,
      bodyTimeoutMs: 0,
      leastPace: { bytes: 1, windowMs: 60_000 },
    },
  };
  const recipient: Recipient = {
    startedMs: 0,
    received() {},
    refused() {},
    failed() {},
    waitsForBody() {},
  };
  const route = emptyRoute('PUT', '/v1/x', { body: 'stream' });
  const head = { route, credentials: undefined, bytesMax: 10_000_000, declaredBytes: 0 };
  const body = new StreamedBody(res, head, options, recipient);
  body.start();
  const taken = () => calls.splice(0);
  return {
    body,
    taken,
    memory: options.bodyMemory,
    give: (bytes: number, isLast = false) => give(new ArrayBuffer(bytes), isLast),
  };
}

test('the clock of the library is kept from striking until the reply is out, even when all has come', (t) => {
  const { body, taken, give } = world();
  body.overdue(1_000);
  t.deepEqual(taken(), ['pause', 'resume']);
  give(10, true);
  body.overdue(2_000);
  t.deepEqual(taken(), ['pause', 'resume']);
  body.end();
  body.overdue(3_000);
  t.deepEqual(taken(), []);
});

test('a connection that is held back stays so until there is room, and is let go before a reply', (t) => {
  const { body, taken, give, memory } = world();
  give(queueBytesMax);
  t.deepEqual(taken(), ['pause']);
  body.overdue(1_000);
  t.deepEqual(taken(), []);
  body.letGo();
  t.deepEqual(taken(), ['resume']);
  t.is(memory.bytes, 0);
  give(queueBytesMax);
  t.deepEqual(taken(), []);
  t.is(memory.bytes, 0);
});

test('a connection that is gone is not touched', (t) => {
  const { body, taken, give, memory } = world();
  give(queueBytesMax);
  taken();
  body.end();
  t.deepEqual(taken(), []);
  t.is(memory.bytes, 0);
});
