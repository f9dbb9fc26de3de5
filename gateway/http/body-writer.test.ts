import test from 'ava';
import fc from 'fast-check';
import { FakeClock } from '../../test/kit/clock.ts';
import { BodyWriter } from './body-writer.ts';
import { ReplyMemory } from './reply-memory.ts';
import type { HttpResponse } from './uws.ts';

const minimumThroughput = { bytes: 100, windowMs: 10_000 };

/**
 * What the library does with a body, as far as its callers can see. The system takes as many bytes as fit. `tryEnd`
 * takes nothing of the rest. `write` keeps all of it and hands it over with the next write or the end of a cork.
 */
class FakeResponse {
  readonly got: Uint8Array[] = [];
  buffered: Uint8Array = new Uint8Array();
  mostKept = 0;
  roomBytes = 0;
  #offset = 0;
  #onWritable: (offset: number) => boolean = () => true;
  #paused = false;
  windings = 0;

  onWritable(handler: (offset: number) => boolean): void {
    this.#onWritable = handler;
  }

  cork(write: () => void): void {
    write();
    this.#drain();
  }

  getWriteOffset(): number {
    return this.#offset;
  }

  tryEnd(chunk: Uint8Array, lengthBytes: number): [boolean, boolean] {
    const bytes = this.#take(chunk);
    this.#offset += bytes;
    return [bytes === chunk.byteLength, this.#offset === lengthBytes];
  }

  write(piece: Uint8Array): boolean {
    this.buffered = Buffer.concat([this.buffered, piece]);
    this.#drain();
    this.mostKept = Math.max(this.mostKept, this.buffered.byteLength);
    return this.buffered.byteLength === 0;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) throw new Error('the library would never read this connection again');
    this.#paused = false;
    this.windings += 1;
  }

  /** The reader takes bytes, and the library reports it. */
  room(bytes: number): void {
    this.roomBytes += bytes;
    this.#onWritable(this.#offset);
  }

  #drain(): void {
    this.buffered = this.buffered.subarray(this.#take(this.buffered));
  }

  #take(chunk: Uint8Array): number {
    const bytes = Math.min(this.roomBytes, chunk.byteLength);
    this.got.push(Uint8Array.from(chunk.subarray(0, bytes)));
    this.roomBytes -= bytes;
    return bytes;
  }
}

function world(lengthBytes: number | undefined, replyMemoryBytes = 10_000_000) {
  const res = new FakeResponse();
  const clock = new FakeClock();
  const replyMemory = new ReplyMemory(replyMemoryBytes);
  const events: string[] = [];
  const options = { clock, replyMemory, limits: { minimumThroughput } };
  const writerEvents = {
    complete() {
      events.push('complete');
      bodyWriter.end();
    },
    giveUp() {
      events.push('given up');
      bodyWriter.end();
    },
  };
  const reader = { name: 'alice', isAnonymous: false };
  const response = res as unknown as HttpResponse;
  const bodyWriter: BodyWriter = new BodyWriter({
    res: response,
    lengthBytes,
    options,
    events: writerEvents,
    reader,
  });
  return { res, clock, replyMemory, events, bodyWriter };
}

test('a reader gets the bytes in order however it takes them, and nothing is held afterwards', async (t) => {
  const chunks = fc.array(
    fc.integer({ min: 1, max: 200_000 }).map((bytes) => new Uint8Array(bytes).fill(bytes)),
    { maxLength: 8 },
  );
  const rooms = fc.infiniteStream(fc.integer({ min: 2_000, max: 300_000 }));
  await fc.assert(
    fc.asyncProperty(chunks, rooms, fc.boolean(), async (sent, room, isSized) => {
      const whole = Buffer.concat(sent);
      const { res, replyMemory, events, bodyWriter, clock } = world(isSized ? whole.length : undefined);
      for (const chunk of sent) {
        res.cork(() => bodyWriter.offer(chunk));
        let isTaken = false;
        void Promise.resolve(bodyWriter.written).then(() => {
          isTaken = true;
        });
        await Promise.resolve();
        await Promise.resolve();
        while (!isTaken) {
          t.true(replyMemory.bytes > 0 && replyMemory.bytes <= chunk.byteLength);
          res.room(room.next().value);
          if (!isTaken) bodyWriter.overdue(clock.monotonicMs());
          await Promise.resolve();
          await Promise.resolve();
        }
        t.is(replyMemory.bytes, 0);
      }
      while (res.buffered.byteLength > 0) res.room(room.next().value);
      t.true(Buffer.concat(res.got).equals(whole));
      // The piece that did not fit, and a small one after it.
      t.true(res.mostKept <= 66_000);
      t.deepEqual(events, isSized && sent.length > 0 ? ['complete'] : []);
    }),
    { numRuns: 100 },
  );
});

for (const lengthBytes of [1_000, undefined]) {
  const name = lengthBytes === undefined ? 'unknown' : 'known';

  test(`with ${name} length, a reader that takes nothing is given up on, and the library not before`, async (t) => {
    const { res, clock, replyMemory, events, bodyWriter } = world(lengthBytes);
    res.cork(() => bodyWriter.offer(new Uint8Array(500)));
    t.is(replyMemory.bytes, 500);
    for (let second = 1; second <= 9; second++) {
      await clock.advance(1_000);
      bodyWriter.overdue(clock.monotonicMs());
      t.is(res.windings, second);
    }
    t.deepEqual(events, []);
    await clock.advance(1_000);
    bodyWriter.overdue(clock.monotonicMs());
    t.deepEqual(events, ['given up']);
    t.is(replyMemory.bytes, 0);
    await bodyWriter.written;
  });

  test(`with ${name} length, a reader need take nothing while there is nothing to take`, async (t) => {
    const { res, clock, events, bodyWriter } = world(lengthBytes);
    res.roomBytes = 500;
    res.cork(() => bodyWriter.offer(new Uint8Array(500)));
    t.is(bodyWriter.written, undefined);
    await clock.advance(60_000);
    bodyWriter.overdue(clock.monotonicMs());
    t.deepEqual(events, []);
  });
}

test('a reader that takes a little at a time is seen to move before the library says so', async (t) => {
  const { res, clock, events, bodyWriter } = world(10_000);
  res.cork(() => bodyWriter.offer(new Uint8Array(5_000)));
  for (let second = 1; second <= 40; second++) {
    await clock.advance(1_000);
    res.roomBytes += 12;
    bodyWriter.overdue(clock.monotonicMs());
  }
  t.deepEqual(events, []);
  t.is(Buffer.concat(res.got).length, 480);
});

test('a reply without room in the memory of replies is given up on', async (t) => {
  const { res, replyMemory, events, bodyWriter } = world(1_000, 400);
  res.cork(() => bodyWriter.offer(new Uint8Array(500)));
  t.deepEqual(events, ['given up']);
  t.is(replyMemory.bytes, 0);
  await bodyWriter.written;
});

test('a reader that leaves the last of a reply keeps no more of it in memory', (t) => {
  const { res, replyMemory, bodyWriter } = world(1_000_000);
  const reply = new Uint8Array(1_000_000);
  let offered: Uint8Array = new Uint8Array();
  const tryEnd = res.tryEnd.bind(res);
  res.tryEnd = (chunk, lengthBytes) => {
    offered = chunk;
    return tryEnd(chunk, lengthBytes);
  };
  res.cork(() => bodyWriter.offer(reply));
  res.room(999_000);
  res.room(1);
  t.is(replyMemory.bytes, 999);
  t.is(offered.buffer.byteLength, 1_000);
});
