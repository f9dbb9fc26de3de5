import test from 'ava';
import type { Hint, HostEvent } from '../../../runtime/transport/transport.ts';
import { startNatsServer } from '../../kit/nats-server.ts';
import { echo, ownCluster, startProcess, type TestProcess, until } from '../../kit/transport-process.ts';

const server = await startNatsServer({ jetStream: false });
test.after.always(() => server.stop());

const event = (sequence: number): HostEvent => ({
  host: 'host',
  sequence,
  address: { kind: 'user', id: 'id' },
  event: { what: 'changed', uuids: ['a'] },
});

function listening({ transport }: TestProcess, gateway: string) {
  const heard = { events: [] as HostEvent[], hints: [] as Hint[] };
  const stop = transport.listen(gateway, {
    event: (each) => heard.events.push(each),
    hinted: (hint) => heard.hints.push(hint),
    reconnected() {},
  });
  return { ...heard, stop };
}

test('a hint comes once to every process and its gateways, this one included', async (t) => {
  const shared = ownCluster();
  const one = await startProcess(t, server.url, { ...shared, answer: echo });
  const other = await startProcess(t, server.url, { ...shared, answer: echo });
  const gateways = [listening(one, 'one'), listening(other, 'other')];
  const hints: readonly Hint[] = [
    { hint: 'nodes' },
    { hint: 'joined', node: 'node-1' },
    { hint: 'freed', shards: [1, 2] },
    { hint: 'claimed', shards: [3], host: 'host', epoch: 7 },
    { hint: 'rebalance' },
  ];
  for (const hint of hints) one.transport.hint(hint);
  t.deepEqual(one.seen.hints, hints);
  await until(() => other.seen.hints.length === hints.length);
  t.deepEqual(other.seen.hints, hints);
  other.transport.hint({ hint: 'nodes' });
  await until(() => one.seen.hints.length === hints.length + 1);
  for (const { hints: heard } of gateways) t.is(heard.length, hints.length + 1);
});

test('events come to the one gateway they are for, in order, wherever it is', async (t) => {
  const shared = ownCluster();
  const one = await startProcess(t, server.url, shared);
  const other = await startProcess(t, server.url, shared);
  const here = listening(one, 'here');
  const there = listening(other, 'there');
  one.transport.publish('here', event(1));
  t.deepEqual(here.events, [event(1)]);
  // The subscription of the other process is on its way to the broker.
  await until(() => {
    one.transport.publish('there', event(0));
    return there.events.length > 0;
  });
  const before = there.events.length;
  for (let sequence = 1; sequence <= 100; sequence += 1) one.transport.publish('there', event(sequence));
  await until(() => there.events.at(-1)?.sequence === 100);
  t.deepEqual(
    there.events.filter(({ sequence }) => sequence > 0),
    Array.from({ length: 100 }, (_, index) => event(index + 1)),
  );
  t.true(before > 0);
  t.is(here.events.length, 1);
});

test('a gateway that has stopped listening hears nothing more', async (t) => {
  const shared = ownCluster();
  const one = await startProcess(t, server.url, shared);
  const other = await startProcess(t, server.url, shared);
  const stopped = listening(other, 'stopped');
  const going = listening(other, 'going');
  stopped.stop();
  await until(() => {
    one.transport.publish('stopped', event(1));
    one.transport.publish('going', event(1));
    return going.events.length > 0;
  });
  t.is(stopped.events.length, 0);
});
