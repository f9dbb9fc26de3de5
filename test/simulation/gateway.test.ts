/** What the simulator judges must be right, or a seed fails that shows nothing. */
import test from 'ava';
import { sleep } from '../../runtime/clock.ts';
import { OverloadedError, RetryableError, UnavailableError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import { SeededRandom } from '../kit/random.ts';
import { AvailabilityChecker, type CallTimes } from './checkers/availability.ts';
import { Gateway, type GatewayProcess } from './gateway.ts';
import { SimulatedProcess } from './process.ts';
import { SimulatedTime } from './time.ts';

const slowMs = 2_000;
const ask = { address: { kind: 'counter', id: 'c1' }, command: 'peek', request: {}, callId: 'one' };

/** What is reported of a call that takes long, if these hosts are needed at its beginning and at its end. */
async function reportedOf(...hosts: readonly (string | undefined)[]): Promise<readonly string[]> {
  const time = new SimulatedTime();
  const reports: string[] = [];
  const availability = new AvailabilityChecker((message) => reports.push(message), true);
  const process = new SimulatedProcess('a1', time, { wallSkewMs: 0, rate: 1 });
  const peek = () => time.sleep(slowMs);
  const actors = { get: () => ({ ask: { peek } }) } as unknown as Actors;
  const entrance: GatewayProcess = { process, actors, isClosing: false, asks: 0 };
  const waiting = [...hosts];
  const gateway = new Gateway({
    time,
    random: new SeededRandom(1),
    gatewayProcesses: () => [entrance],
    availability,
    healthyHostsFor: () => waiting.shift(),
  });
  let isOver = false;
  void gateway.ask(ask, 10_000).then(() => {
    isOver = true;
  });
  await time.run(20_000, () => isOver);
  return reports;
}

test('a call is judged that one well host got and answered', async (t) => {
  t.deepEqual(await reportedOf('a', 'a'), [`peek one took ${slowMs} ms`]);
});

test('a call is not judged that came to a host before its trouble, and was answered by another', async (t) => {
  t.deepEqual(await reportedOf('b', 'a'), []);
});

test('a call is not judged whose host is in trouble at its beginning or at its end', async (t) => {
  t.deepEqual(await reportedOf(undefined, 'a'), []);
  t.deepEqual(await reportedOf('a', undefined), []);
});

/** What is reported of a call that ends with this error. */
function reportedOfError(error: Error, times: CallTimes): readonly string[] {
  const reports: string[] = [];
  const availability = new AvailabilityChecker((message) => reports.push(message), true);
  availability.answered('peek one', { outcome: 'none', error }, times);
  return reports;
}

test('a call is not judged whose caller waits for less than a hand-over may take', (t) => {
  const late = new RetryableError('no answer came in time', { outcome: 'unknown' });
  const moved = new UnavailableError('nobody serves this actor now');
  t.deepEqual(reportedOfError(late, { tookMs: 700, withinMs: 700 }), []);
  t.deepEqual(reportedOfError(moved, { tookMs: 500, withinMs: 700 }), []);
});

test('a call is judged that ends long before its time, whose caller is patient, or that is refused', (t) => {
  const late = new RetryableError('no answer came in time', { outcome: 'unknown' });
  t.is(reportedOfError(late, { tookMs: 100, withinMs: 700 }).length, 1);
  t.is(reportedOfError(late, { tookMs: 3_000, withinMs: 3_000 }).length, 1);
  t.is(reportedOfError(new OverloadedError('full'), { tookMs: 700, withinMs: 700 }).length, 1);
});

test('a call is open until the process that slept has ended it, although its client gave up before', async (t) => {
  const time = new SimulatedTime();
  const process = new SimulatedProcess('a1', time, { wallSkewMs: 0, rate: 1 });
  const peek = () => sleep(process, 1_000);
  const actors = { get: () => ({ ask: { peek } }) } as unknown as Actors;
  const gateway = new Gateway({
    time,
    random: new SeededRandom(1),
    gatewayProcesses: () => [{ process, actors, isClosing: false, asks: 0 }],
    availability: new AvailabilityChecker(() => {}, false),
    healthyHostsFor: () => undefined,
  });
  const answer = gateway.ask(ask, 1_000);
  process.pause(true);
  await time.run(60_000, () => false);
  t.is((await answer).outcome, 'unknown');
  t.true(gateway.isWaiting);
  process.resume();
  await time.run(60_900, () => false);
  t.true(gateway.isWaiting);
  await time.run(61_100, () => false);
  t.false(gateway.isWaiting);
});
