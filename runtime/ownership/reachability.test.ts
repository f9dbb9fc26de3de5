import test from 'ava';
import { FakeClock } from '../../test/support/clock.ts';
import { testNode } from '../../test/support/host.ts';
import { SeededRandom } from '../../test/support/random.ts';
import { StoreError } from '../store/store.ts';
import { Reachability } from './reachability.ts';

const leaseMs = 9_000;

function cutOff() {
  const clock = new FakeClock();
  const node = testNode(new SeededRandom(1));
  const transport = { isConnected: false, reachesOthers: true };
  const told: boolean[] = [];
  let isLost = false;
  const store = {
    async setConnected(_id: string, _incarnation: string, connected: boolean) {
      told.push(connected);
      if (isLost) throw new StoreError('unknown', 'lost by the test');
    },
  };
  const lose = (lost: boolean) => {
    isLost = lost;
  };
  const reachability = new Reachability({ clock, store, node, leaseMs, transport });
  const seen = (connected: boolean) =>
    reachability.saw([{ ...node, draining: false, connected, expiresInMs: leaseMs }]);
  return { clock, transport, told, lose, reachability, seen };
}

test('a host that is cut off for half a lease says so, and takes it back when it is not', async (t) => {
  const { clock, transport, told, reachability } = cutOff();
  await reachability.tell();
  await clock.advance(leaseMs / 2);
  await reachability.tell();
  t.deepEqual(told, [false]);
  transport.isConnected = true;
  await reachability.tell();
  await reachability.tell();
  t.deepEqual(told, [false, true]);
});

test('what the database was told by a statement that nobody answered is taken back too', async (t) => {
  const { clock, transport, told, lose, reachability, seen } = cutOff();
  await reachability.tell();
  await clock.advance(leaseMs / 2);
  lose(true);
  await t.throwsAsync(reachability.tell(), { instanceOf: StoreError });
  lose(false);
  transport.isConnected = true;
  seen(false);
  await reachability.tell();
  t.deepEqual(told, [false, true]);
});

test('what a statement that nobody answered has told the database is taken back', async (t) => {
  const clock = new FakeClock();
  const transport = { isConnected: false, reachesOthers: true };
  const told: boolean[] = [];
  const store = {
    async setConnected(_id: string, _incarnation: string, connected: boolean) {
      told.push(connected);
      if (!connected) throw new StoreError('unknown', 'lost by the test');
    },
  };
  const node = testNode(new SeededRandom(1));
  const reachability = new Reachability({ clock, store, node, leaseMs, transport });
  t.false(await reachability.correct(true));
  await clock.advance(leaseMs / 2);
  await t.throwsAsync(reachability.correct(true), { instanceOf: StoreError });
  transport.isConnected = true;
  t.true(await reachability.correct(false));
  t.false(await reachability.correct(true));
  t.deepEqual(told, [false, true]);
});
