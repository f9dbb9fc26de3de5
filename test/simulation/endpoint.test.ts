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
async function strayedAfter(
  answer: (host: SimulatedProcess) => void,
  mayFinish: () => boolean = () => false,
): Promise<readonly string[]> {
  const time = new SimulatedTime();
  const strayed: string[] = [];
  const processOf = (name: string) => new SimulatedProcess(name, time, { wallSkewMs: 0, rate: 1 });
  const host = processOf('a1');
  const wires: Wires = {
    shardCount: 1,
    trace: new Trace(false, () => time.nowMs),
    watcher: {
      replied: () => {},
      woke: () => {},
      owns: () => false,
      mayFinish,
      strayed: (name) => strayed.push(name),
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
    askFromElsewhere: async () => answer(host),
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
  return strayed;
}

test('a host is reported that answers a call of a shard that is not routed to it', async (t) => {
  t.deepEqual(await strayedAfter(() => {}), ['a1']);
});

test('a host that dies at the moment of its answer is not reported for it', async (t) => {
  t.deepEqual(await strayedAfter((host) => host.kill()), []);
});

test('a host that hands over may finish what it began while it owned the shard', async (t) => {
  t.deepEqual(
    await strayedAfter(
      () => {},
      () => true,
    ),
    [],
  );
});
