/** A part that counts as well must be so, or a seed fails that shows nothing. */
import test from 'ava';
import { shardOf } from '../../runtime/address.ts';
import { SeededRandom } from '../kit/random.ts';
import { FaultInjector } from './fault-injector.ts';
import { Health, type HealthOptions } from './health.ts';
import { planOf } from './plan.ts';
import { SimulatedProcess } from './process.ts';
import { StorageFaults } from './storage-faults.ts';
import { SimulatedTime } from './time.ts';
import { Trace } from './trace.ts';

const cutMs = 1_000;
const plan = planOf(1, 'troubled');
const none = () => {};

function setUp() {
  const time = new SimulatedTime();
  const random = new SeededRandom(1);
  const process = new SimulatedProcess('a1', time, { wallSkewMs: 0, rate: 1 });
  const rates = plan.faults;
  const faults = new StorageFaults({
    plan,
    time,
    random,
    wording: random,
    rates,
    trace: new Trace(false, () => time.nowMs),
    faultInjector: new FaultInjector({ random, rates, crash: none, pause: none }),
    onCrash: none,
    onPause: none,
  });
  /** The times at which statements run that are sent while the process is cut off. */
  const ranMs: number[] = [];
  const send = () => {
    const apply = () => ranMs.push(time.nowMs);
    void faults.scheduleOf(process)('barrier', apply).catch(none);
  };
  return { time, process, faults, ranMs, send };
}

test('a host that was cut off counts as well once everything that it sent meanwhile is done', async (t) => {
  const { time, process, faults, ranMs, send } = setUp();
  faults.cutOff(process, cutMs);
  for (let atMs = 0; atMs < cutMs; atMs += 1) time.after(atMs, send);
  let wellMs = Number.POSITIVE_INFINITY;
  await time.run(60_000, () => {
    if (faults.isHealthy(process)) wellMs = Math.min(wellMs, time.nowMs);
    return false;
  });
  t.true(ranMs.length > 100);
  t.true(Math.max(...ranMs) < wellMs);
});

test('a host that is cut off when everything heals counts as well only after its recovery', async (t) => {
  const { time, process, faults } = setUp();
  await time.run(10_000, () => false);
  t.true(faults.isHealthy(process));
  faults.cutOff(process, cutMs);
  faults.heal();
  t.false(faults.isHealthy(process));
  await time.run(60_000, () => false);
  t.true(faults.isHealthy(process));
});

/** The owner of a counter whose shard is held like this, beside a host and a gateway. */
function healthyHostOf(incarnation: string, epoch: number): string | undefined {
  const shard = shardOf({ kind: 'counter', id: 'c1' }, plan.shardCount);
  const health = new Health({
    plan,
    machines: { runs: [{ store: { incarnation: 'one' } }, { store: { incarnation: '' } }] },
    faults: { isHealthy: () => true },
    database: { shards: () => [{ shard, node: 'a', incarnation, epoch }] },
  } as unknown as HealthOptions);
  return health.healthyHostOf('c1');
}

test('an owner that has handed a shard over and got it back is not the owner that it was', (t) => {
  t.is(healthyHostOf('one', 2), healthyHostOf('one', 2));
  t.not(healthyHostOf('one', 2), healthyHostOf('one', 4));
});

test('a shard that was freed and that nobody has claimed has no owner, and so no gateway is taken for it', (t) => {
  t.is(healthyHostOf('', 2), undefined);
});
