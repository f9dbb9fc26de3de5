import test from 'ava';
import { drainPromises, FakeClock } from '../test/kit/clock.ts';
import { watchMailDiskSpace } from './mail-disk-space.ts';

const mebibyte = 1_024 * 1_024;

test('there is no room for mail with less than 64 MiB free, as last heard', async (t) => {
  const clock = new FakeClock();
  let free = 64 * mebibyte - 1;
  const requests: string[] = [];
  const room = watchMailDiskSpace('/data', clock, async (path) => {
    requests.push(path);
    return free;
  });
  t.false(room.isLow);
  await drainPromises();
  t.true(room.isLow);
  free += 1;
  await clock.advance(4_999);
  t.true(room.isLow);
  t.deepEqual(requests, ['/data']);
  await clock.advance(1);
  t.true(room.isLow);
  await drainPromises();
  t.false(room.isLow);
  t.is(requests.length, 2);
});

test('a disk that does not answer is asked once, and one that cannot be asked refuses no mail', async (t) => {
  const clock = new FakeClock();
  let calls = 0;
  let fail = (_error: Error) => {};
  const room = watchMailDiskSpace('/data', clock, () => {
    calls += 1;
    return new Promise((_resolve, reject) => {
      fail = reject;
    });
  });
  for (let time = 0; time < 3; time += 1) {
    await clock.advance(60_000);
    t.false(room.isLow);
  }
  t.is(calls, 1);
  fail(new Error('EIO'));
  await drainPromises();
  t.false(room.isLow);
  t.is(calls, 2);
});
