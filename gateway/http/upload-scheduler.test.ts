import test from 'ava';
import fc from 'fast-check';
import { BodyMemory } from './body.ts';
import { type ScheduledUpload, UploadScheduler } from './upload-scheduler.ts';

const watermarks = { userBytes: 100, allBytes: 300 };

/** An upload scheduler, and the turns of the loop for which it waits. */
function world() {
  const turns: (() => void)[] = [];
  const memory = new BodyMemory(100_000);
  const uploadScheduler = new UploadScheduler(watermarks, (work) => turns.push(work));
  const open = (user: string) => {
    const stream = { read: true, upload: undefined as unknown as ScheduledUpload };
    stream.upload = uploadScheduler.open(user, memory.shareOf(user), {
      pause: () => {
        stream.read = false;
      },
      resume: () => {
        stream.read = true;
      },
    });
    return stream;
  };
  return { open, memory, turn: () => turns.shift()?.(), turns };
}

test('once one stream brings more than the watermark of its user, no other of that user is read, but those of others are', (t) => {
  const { open } = world();
  const [first, second, other] = [open('a'), open('a'), open('b')];
  t.true(first.upload.take(99));
  t.true(second.read);
  t.true(first.upload.take(150));
  t.deepEqual([first.read, second.read, other.read], [false, false, true]);
  t.false(open('a').read);
});

test('the bytes that all uploads hold together have a watermark too', (t) => {
  const { open } = world();
  const streams = ['a', 'b', 'c', 'd'].map(open);
  for (const { upload } of streams.slice(0, 3)) upload.take(99);
  t.true(streams.every(({ read }) => read));
  streams[3]?.upload.take(3);
  t.true(streams.every(({ read }) => !read));
});

test('streams go on in turn, one in each turn of the loop, and stop again when one brings too much', (t) => {
  const { open, turn } = world();
  const streams = [open('a'), open('a'), open('a')];
  const [first, second, third] = streams;
  first?.upload.take(200);
  first?.upload.release(200);
  t.deepEqual(
    streams.map(({ read }) => read),
    [false, false, false],
  );
  turn();
  turn();
  t.deepEqual(
    streams.map(({ read }) => read),
    [true, true, false],
  );
  second?.upload.take(100);
  turn();
  t.deepEqual(
    streams.map(({ read }) => read),
    [false, false, false],
  );
  second?.upload.release(100);
  turn();
  t.true(third?.read);
});

test('a stream that holds itself back is not read when its turn would have come, and one that is closed is read at once', (t) => {
  const { open, turn, turns } = world();
  const [first, second] = [open('a'), open('a')];
  first.upload.take(100);
  second.upload.hold();
  first.upload.close();
  t.true(first.read);
  first.upload.release(100);
  while (turns.length > 0) turn();
  t.false(second.read);
  second.upload.unhold();
  t.true(second.read);
});

test('bytes above the watermarks come from one stream alone, and in the end all streams are read', (t) => {
  const step = fc.record({
    stream: fc.nat(7),
    does: fc.constantFrom('take', 'take', 'release', 'hold', 'unhold', 'turn'),
    bytes: fc.integer({ min: 1, max: 150 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { open, memory, turn, turns } = world();
      const streams = Array.from({ length: 8 }, (_, index) => ({
        user: `u${index % 4}`,
        held: 0,
        opened: open(`u${index % 4}`),
      }));
      const heldBy = (user: string) =>
        streams.filter((each) => each.user === user).reduce((sum, { held }) => sum + held, 0);
      for (const { stream, does, bytes } of steps) {
        const one = streams[stream];
        if (one === undefined) continue;
        const { upload, read } = one.opened;
        if (does === 'take' && read) {
          // Nobody is read at the limit, so it is exceeded once at most.
          if (heldBy(one.user) >= watermarks.userBytes || memory.bytes >= watermarks.allBytes) return false;
          upload.take(bytes);
          one.held += bytes;
        } else if (does === 'release') {
          upload.release(one.held);
          one.held = 0;
        } else if (does === 'hold') upload.hold();
        else if (does === 'unhold') upload.unhold();
        else if (does === 'turn') turn();
      }
      for (const { held, opened } of streams) {
        opened.upload.release(held);
        opened.upload.unhold();
      }
      while (turns.length > 0) turn();
      return memory.bytes === 0 && streams.every(({ opened }) => opened.read);
    }),
  );
  t.pass();
});

test('connections of a user with many streams at once are not kept, those of others are', (t) => {
  const { open } = world();
  const [first, ...others] = [1, 2, 3, 4].map(() => open('a'));
  t.false(first?.upload.isOneOfMany);
  const fifth = open('a');
  t.true(first?.upload.isOneOfMany);
  t.false(open('b').upload.isOneOfMany);
  fifth.upload.close();
  fifth.upload.close();
  t.false(others[0]?.upload.isOneOfMany);
  open('a');
  t.true(others[0]?.upload.isOneOfMany);
});
