/** What the simulator judges must be right, or a seed fails that shows nothing. */
import test from 'ava';
import type { AskCall } from '../../runtime/transport/transport.ts';
import { SeededRandom } from '../kit/random.ts';
import { Endpoint, type Wires } from './endpoint.ts';
import { FaultInjector } from './fault-injector.ts';
import { SimulatedProcess } from './process.ts';
import { SimulatedTime } from './time.ts';
import { Trace } from './trace.ts';

const noFaults = { crashAtStore: 0, pauseAtStore: 0, crashAtMessage: 0, pauseAtMessage: 0 };
const call: AskCall = {
  address: { kind: 'counter', id: 'c1' },
  command: 'peek',
  request: {},
  callId: 'one',
  deadlineMs: 1_000,
};

/** The hosts that were reported for an answer to a call whose shard they did not serve. */
async function reportedAfter(
  answer: (host: SimulatedProcess) => void,
  mayAnswer: () => () => boolean = () => () => false,
): Promise<readonly string[]> {
  const time = new SimulatedTime();
  const reported: string[] = [];
  const processOf = (name: string) => new SimulatedProcess(name, time, { wallSkewMs: 0, rate: 1 });
  const host = processOf('a1');
  const wires: Wires = {
    shardCount: 1,
    trace: new Trace(false, () => time.nowMs),
    watcher: {
      replied: () => {},
      woke: () => {},
      mayAnswer,
      answeredUnserved: (name) => reported.push(name),
    },
    faultInjector: new FaultInjector({
      random: new SeededRandom(1),
      rates: noFaults,
      crash: () => {},
      pause: () => {},
    }),
    announce: () => {},
    targetsOf: () => [listener],
    carry: (_from, to, _what, handle) => time.after(1, () => to.process.enter(handle)),
    broadcast: () => {},
    wake: () => {},
    publish: () => {},
    latencyMs: () => 1,
    after: (delayMs, fire) => time.after(delayMs, fire),
  };
  const listener = new Endpoint(wires, host);
  listener.serve({
    ask: () => Promise.resolve(),
    askFromRemote: async () => answer(host),
    epochOf: () => undefined,
    wake: () => {},
    hinted: () => {},
  });
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  new Endpoint(wires, processOf('g2')).ask(call).then(over, over);
  await time.run(2_000, () => isOver);
  return reported;
}

test('a host is reported that answers a call of a shard that is not routed to it', async (t) => {
  t.deepEqual(await reportedAfter(() => {}), ['a1']);
});

test('a host that dies at the moment of its answer is not reported for it', async (t) => {
  t.deepEqual(await reportedAfter((host) => host.kill()), []);
});

test('a host that hands over may finish what it began while it owned the shard', async (t) => {
  let isOwner = true;
  const handsOver = () => {
    isOwner = false;
  };
  const ownedOnArrival = () => {
    const wasOwner = isOwner;
    return () => wasOwner;
  };
  t.deepEqual(await reportedAfter(handsOver, ownedOnArrival), []);
});
