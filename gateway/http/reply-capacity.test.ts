import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { ReplyCapacity, ReservedCapacity } from './reply-capacity.ts';

function world(bytesMax: number) {
  const clock = new FakeClock();
  const room = new ReplyCapacity(bytesMax, clock);
  return { clock, room, of: (network: string) => new ReservedCapacity(room, network) };
}

test('a reply takes as much as it needs in all, and gives it back once', async (t) => {
  const { room, of } = world(1_000);
  const share = of('a');
  for (const bytes of [10, 30, 20]) t.true(await share.reach(bytes));
  t.is(room.bytes, 30);
  share.freeAll();
  share.freeAll();
  t.is(room.bytes, 0);
});

test('a request waits a few seconds for reply capacity, and then keeps what it had before', async (t) => {
  const { clock, room, of } = world(1_000);
  const [first, second] = [of('a'), of('a')];
  t.true(await first.reach(150));
  t.true(await second.reach(20));
  const more = second.reach(100);
  await clock.advance(4_999);
  t.is(room.bytes, 170);
  await clock.advance(1);
  t.false(await more);
  t.is(room.bytes, 170);
  const again = second.reach(100);
  first.freeAll();
  t.true(await again);
  t.is(room.bytes, 100);
  await clock.advance(10_000);
  second.freeAll();
  t.is(room.bytes, 0);
});

test('room goes to whoever has waited longest and fits in it', async (t) => {
  const { room, of } = world(1_000);
  const [holder, other] = [of('a'), of('b')];
  t.true(await holder.reach(200));
  t.true(await other.reach(150));
  const order: string[] = [];
  const wait = (network: string, bytes: number) =>
    of(network)
      .reach(bytes)
      .then(() => order.push(`${network} ${bytes}`));
  const waits = [wait('a', 150), wait('a', 40), wait('a', 10), wait('c', 140)];
  holder.freeAll();
  await Promise.all([waits[0], waits[2]]);
  t.deepEqual(order, ['a 150', 'a 10']);
  t.is(room.bytes, 310);
});

test('few of one network may wait, and so many of all', async (t) => {
  const { clock, of } = world(1_000);
  t.true(await of('a').reach(200));
  const waits = Array.from({ length: 64 }, () => of('a').reach(1));
  t.false(await of('a').reach(1));
  for (let network = 0; network < 7; network += 1) {
    for (let n = 0; n < 64; n += 1) waits.push(of(`network ${network}`).reach(900));
  }
  t.false(await of('last').reach(900));
  await clock.advance(5_000);
  t.deepEqual(new Set(await Promise.all(waits)), new Set([false]));
  t.true(await of('last').reach(1));
});

test('however many networks take what they can, the next finds some', async (t) => {
  const { room, of } = world(128 * 1_024);
  const all: number[] = [];
  for (let network = 1; network <= 30; network += 1) {
    const before = room.bytes;
    let bytes = 0;
    for (let step = 2 ** 16; step >= 1; step /= 2) {
      const fits = bytes + step <= (128 * 1_024 - before - bytes - step) / 4;
      if (!fits) continue;
      t.true(await of(`network ${network}`).reach(step));
      bytes += step;
    }
    t.is(room.bytes, before + bytes);
    all.push(bytes);
  }
  // In KiB: the first network may open five of the largest shares, the eighth still one, and the thirtieth a note.
  t.is(all[0], 26_214);
  t.true((all[7] ?? 0) > 5 * 1_024);
  t.true((all[29] ?? 0) >= 16);
});
