import test from 'ava';
import type { VaultItemsChanged } from '../../actors/vault/contract.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { VaultNotices } from './vault-notices.ts';

const saved = (timestamp: number, by?: string, session?: string): VaultItemsChanged => ({
  event: 'items-changed',
  timestamp,
  by,
  session,
});

function world() {
  const clock = new FakeClock();
  const notified: (readonly [vault: string, change: VaultItemsChanged])[] = [];
  const notices = new VaultNotices(clock, (vault, change, done) => {
    notified.push([vault, change]);
    done();
  });
  return { clock, notified, notices };
}

test('members hear at once of the first change', (t) => {
  const { notified, notices } = world();
  notices.changed('v', saved(1, 'ann', 's'));
  t.deepEqual(notified, [['v', saved(1, 'ann', 's')]]);
});

test('members hear of many changes once in each pause, with the latest in the last notice', async (t) => {
  const { clock, notified, notices } = world();
  for (let at = 0; at < 100; at += 1) {
    notices.changed('v', saved(at, 'ann', 's'));
    await clock.advance(10);
  }
  await clock.advance(1_000);
  t.deepEqual(
    notified.map(([, { timestamp }]) => timestamp),
    [0, 24, 49, 74, 99],
  );
});

test('a member who alone has saved is not notified; of two who have, both are', async (t) => {
  const { clock, notified, notices } = world();
  notices.changed('v', saved(1, 'ann', 's'));
  notices.changed('v', saved(2, 'ann', 's'));
  notices.changed('v', saved(3, 'ann', 's'));
  await clock.advance(250);
  notices.changed('v', saved(4, 'ann', 's'));
  notices.changed('v', saved(5, 'bob', 'r'));
  await clock.advance(250);
  notices.changed('v', saved(6, 'ann', 's'));
  notices.changed('v', saved(7, 'ann', 'other'));
  await clock.advance(250);
  t.deepEqual(
    notified.slice(1).map(([, { timestamp, by, session }]) => [timestamp, by, session]),
    [
      [3, 'ann', 's'],
      [5, undefined, undefined],
      [7, undefined, undefined],
    ],
  );
});

test('a vault waits for no other, and after a pause without a change it is told at once again', async (t) => {
  const { clock, notified, notices } = world();
  notices.changed('v', saved(1));
  notices.changed('w', saved(2));
  await clock.advance(250);
  notices.changed('v', saved(3));
  t.deepEqual(
    notified.map(([vault]) => vault),
    ['v', 'w', 'v'],
  );
});

test('once stopped, nothing more is told', async (t) => {
  const { clock, notified, notices } = world();
  notices.changed('v', saved(1));
  notices.changed('v', saved(2));
  notices.stop();
  await clock.advance(1_000);
  t.is(notified.length, 1);
});

test('while members are still being told of a change, the next one waits, and then for the pause', async (t) => {
  const clock = new FakeClock();
  const notified: number[] = [];
  let done = () => {};
  const notices = new VaultNotices(clock, (_vault, { timestamp }, callback) => {
    notified.push(timestamp);
    done = callback;
  });
  for (const timestamp of [1, 2, 3]) notices.changed('v', saved(timestamp));
  await clock.advance(1_000);
  t.deepEqual(notified, [1]);
  done();
  await clock.advance(249);
  t.deepEqual(notified, [1]);
  await clock.advance(1);
  t.deepEqual(notified, [1, 3]);
});
