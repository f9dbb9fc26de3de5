/** What the simulator judges must be right, or a seed fails that shows nothing. */
import test from 'ava';
import type { Actors } from '../../runtime/handles.ts';
import { SeededRandom } from '../kit/random.ts';
import { AvailabilityChecker } from './checkers/availability.ts';
import { type Entrance, Gateway } from './gateway.ts';
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
  const entrance: Entrance = { process, actors, isClosing: false, asks: 0 };
  const waiting = [...hosts];
  const gateway = new Gateway({
    time,
    random: new SeededRandom(1),
    entrances: () => [entrance],
    availability,
    wellHostsFor: () => waiting.shift(),
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
