import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { testNode } from '../../test/kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { silentLogger } from '../ports.ts';
import { StoreError } from '../store/store.ts';
import { Lease, NodeIdInUseError } from './lease.ts';

const leaseMs = 9_000;

function leaseOver(
  schedule: Schedule = async (_method, apply) => apply(),
  verify: (() => Promise<void>) | undefined = undefined,
) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const isPredecessorDead = false;
  const lost: string[] = [];
  const errors: object[] = [];
  const node = testNode(new SeededRandom(1));
  const store = new ModelStore(database, schedule);
  const onLost = () => void lost.push('lost');
  const reports: string[] = [];
  return {
    clock,
    database,
    lost,
    errors,
    reports,
    lease: new Lease({
      store,
      clock,
      node,
      leaseMs,
      logger: { ...silentLogger, error: (fields) => void errors.push(fields) },
      isPredecessorDead,
      verify,
      onLost,
      onLapsed: () => void reports.push('lapsed'),
      onRestored: () => void reports.push('restored'),
    }),
  };
}

/** Renewals wait until they are let go. */
function heldRenewals() {
  const held: (() => void)[] = [];
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (method === 'renew') await new Promise<void>((resolve) => held.push(resolve));
    return apply();
  };
  const release = () => {
    for (const go of held.splice(0)) go();
  };
  return { schedule, release };
}

test('a lease that is lost is told with how long ago it ended, by the clock that says longer', async (t) => {
  const renewals = heldRenewals();
  const { clock, database, lease, lost, errors } = leaseOver(renewals.schedule);
  await lease.start();
  await clock.advance(leaseMs / 3);
  await clock.advance(leaseMs);
  database.expireNodes();
  renewals.release();
  await drainPromises();
  t.deepEqual(lost, ['lost']);
  // Nothing was served from a fifth of a lease before its end.
  t.deepEqual(errors, [{ endedAgoMs: leaseMs / 3 + leaseMs - (leaseMs * 4) / 5 }]);
});

test('a lease that was given up is not lost when a renewal finds it gone', async (t) => {
  const renewals = heldRenewals();
  const { clock, lease, lost } = leaseOver(renewals.schedule);
  await lease.start();
  await clock.advance(leaseMs / 3);
  await lease.leave();
  renewals.release();
  await drainPromises();
  t.deepEqual(lost, []);
  t.false(lease.isValid());
});

for (const [direction, wallMs] of [
  ['ahead', 40_000],
  ['behind', -40_000],
] as const) {
  test(`a host whose clock is ${direction} of the database's by more than the bound serves nothing until it is set`, async (t) => {
    const clock = new FakeClock();
    const startMs = clock.nowMs() - clock.monotonicMs();
    const database = new ModelDatabase({ nowMs: () => startMs + clock.monotonicMs() });
    clock.jumpWall(wallMs);
    const reports: string[] = [];
    const lease = new Lease({
      store: new ModelStore(database),
      clock,
      node: testNode(new SeededRandom(1)),
      leaseMs,
      logger: silentLogger,
      isPredecessorDead: false,
      clockSkewMaxMs: 30_000,
      onLost: () => reports.push('lost'),
      onLapsed: () => reports.push('lapsed'),
      onRestored: () => reports.push('restored'),
    });
    t.teardown(() => lease.abandon());
    await lease.start();
    await clock.advance(1);
    t.deepEqual([lease.isValid(), lease.isClockRight, lease.clockSkewMs], [false, false, wallMs]);
    await clock.advance(leaseMs);
    t.false(lease.isValid());
    clock.jumpWall(-wallMs / 2);
    await clock.advance(2 * leaseMs);
    t.true(lease.isValid());
    t.deepEqual(reports, ['lapsed', 'restored']);
  });
}

test('a lease that another incarnation took is lost', async (t) => {
  const { clock, database, lease, lost } = leaseOver();
  await lease.start();
  await new ModelStore(database).register(testNode(new SeededRandom(2)), leaseMs, true);
  await clock.advance(leaseMs / 3);
  t.deepEqual(lost, ['lost']);
  t.false(lease.isValid());
});

test('a renewal that is answered late extends the lease from when it was sent', async (t) => {
  const renewals = heldRenewals();
  const { clock, lease } = leaseOver(renewals.schedule);
  await lease.start();
  await clock.advance(leaseMs / 3 + 6_000);
  t.false(lease.isValid());
  renewals.release();
  await drainPromises();
  t.true(lease.isValid());
  await clock.advance(leaseMs - leaseMs / 5 - 6_000);
  t.false(lease.isValid());
});

test('a lapse is reported when the lease runs out, and its end with the next renewal', async (t) => {
  const renewals = heldRenewals();
  const { clock, lease, reports } = leaseOver(renewals.schedule);
  await lease.start();
  await clock.advance(leaseMs - leaseMs / 5 - 1);
  t.deepEqual(reports, []);
  await clock.advance(1);
  t.deepEqual(reports, ['lapsed']);
  t.false(lease.isValid());
  // The renewal was sent after a third of a lease: what it brings has run out as well.
  await clock.advance(leaseMs);
  renewals.release();
  await drainPromises();
  t.deepEqual(reports, ['lapsed']);
  await clock.advance(leaseMs / 3);
  renewals.release();
  await drainPromises();
  t.deepEqual(reports, ['lapsed', 'restored']);
  t.true(lease.isValid());
});

test('a lease that is renewed in time reports nothing, and neither does one that was given up', async (t) => {
  const { clock, lease, reports } = leaseOver();
  await lease.start();
  await clock.advance(3 * leaseMs);
  await lease.leave();
  await clock.advance(3 * leaseMs);
  t.deepEqual(reports, []);
});

test('a start waits until the lease of a predecessor that went silent is over', async (t) => {
  const { clock, database, lease } = leaseOver();
  await new ModelStore(database).register(testNode(new SeededRandom(2)), leaseMs);
  const started = lease.start();
  await clock.advance(leaseMs - 1);
  t.false(lease.isValid());
  await clock.advance(3);
  await started;
  t.true(lease.isValid());
});

test('a start is rejected where another process goes on serving as this node', async (t) => {
  const { clock, database, lease } = leaseOver();
  const store = new ModelStore(database);
  const other = testNode(new SeededRandom(2));
  await store.register(other, leaseMs);
  const started = t.throwsAsync(lease.start(), { instanceOf: NodeIdInUseError, message: /keeps its lease/ });
  for (let third = 0; third < 7; third += 1) {
    await clock.advance(leaseMs / 3);
    t.truthy(await store.renew(other.id, other.incarnation, leaseMs));
  }
  await started;
  t.truthy(await store.renew(other.id, other.incarnation, leaseMs));
});

test('a renewal that fails is tried again soon, so that a short outage costs no lease', async (t) => {
  let isAway = false;
  const { clock, lease } = leaseOver(async (_method, apply) => {
    await undefined;
    if (isAway) throw new StoreError('unavailable', 'lost by the test');
    return apply();
  });
  await lease.start();
  isAway = true;
  await clock.advance(0.75 * leaseMs);
  isAway = false;
  for (let passedMs = 0; passedMs < leaseMs; passedMs += 100) {
    await clock.advance(100);
    t.true(lease.isValid(), String(passedMs));
  }
});

test('a process that may not serve the database after all gives the lease back at once, and says why', async (t) => {
  const rejection = new Error('this database was made with other shards');
  const { database, lease, lost } = leaseOver(undefined, () => Promise.reject(rejection));
  t.is(await t.throwsAsync(lease.start()), rejection);
  t.is(database.nodes()[0]?.incarnation, null);
  t.false(lease.isValid());
  t.deepEqual(lost, []);
});
