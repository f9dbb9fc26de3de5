import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost, testShardCount } from '../../test/kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import type { Address } from '../address.ts';
import { shardOf } from '../address.ts';
import { command } from '../command.ts';
import { contract } from '../contract.ts';
import { OverloadedError, TerminalError } from '../errors.ts';
import { kind } from '../kind.ts';
import { slice } from '../slice.ts';
import { StoreError } from '../store/store.ts';
import { InProcessTransport } from '../transport/in-process.ts';
import type { HostEvent } from '../transport/transport.ts';
import { hostOfRegistration, noActor, Publisher, rememberedMax } from './publisher.ts';

const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });

const Speaker = contract({ name: 'publisher', event: z.unknown() });

const publisher = kind({
  name: Speaker.name,
  slices: [count],
  commands: {
    write: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        turn: (turn, event) => {
          turn.set(count, turn.get(count) + 1);
          turn.publish(Speaker, event);
          return null;
        },
      },
    ),
    say: command({ request: z.string(), reply: z.null() }, (turn, event) => {
      turn.publish(Speaker, event);
      return null;
    }),
    fail: command({ request: z.string(), reply: z.null() }, (turn, event) => {
      turn.publish(Speaker, event);
      throw new TerminalError('this turn fails');
    }),
    subscribe: command(
      { request: z.string(), reply: z.string() },
      {
        creates: true,
        turn: (turn, gateway) => turn.subscribe(gateway),
      },
    ),
  },
});

/** A host whose commits a test may hold up or fail, and what its transport was given for the gateway `g`. */
async function startPublisher() {
  const clock = new FakeClock();
  const waiting: (() => void)[] = [];
  const failures: StoreError[] = [];
  const state = { isHolding: false };
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (method === 'commit') {
      if (state.isHolding) await new Promise<void>((go) => waiting.push(go));
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    }
    return apply();
  };
  const transport = new InProcessTransport();
  const sent: HostEvent[] = [];
  transport.listen('g', {
    event: (event) => {
      if (event.address.kind !== noActor.kind) sent.push(event);
    },
    hinted() {},
    reconnected() {},
  });
  const store = new ModelStore(new ModelDatabase(clock), schedule);
  const host = await startTestHost({ kinds: [publisher], clock, store, transport });
  return {
    ...host,
    ask: host.actors.get(publisher, 'p').ask,
    failures,
    events: () => sent.map(({ event }) => event),
    sent,
    hold: () => {
      state.isHolding = true;
    },
    release: () => {
      state.isHolding = false;
      for (const go of waiting.splice(0)) go();
    },
  };
}

test('an event leaves once the commit that justifies it is durable, and not before', async (t) => {
  const world = await startPublisher();
  await world.ask.write('before anybody subscribes');
  await world.ask.subscribe('g');
  world.hold();
  const written = world.ask.write('a');
  const said = world.ask.say('may have seen a');
  await drainPromises();
  t.deepEqual(world.events(), []);
  world.release();
  await Promise.all([written, said]);
  t.deepEqual(world.events(), ['a', 'may have seen a']);
  t.is(world.sent[0]?.address.id, 'p');
});

test('a turn that wrote nothing publishes when its outcome leaves', async (t) => {
  const world = await startPublisher();
  await world.ask.subscribe('g');
  await world.ask.write('a');
  await world.ask.say('b');
  t.deepEqual(world.events(), ['a', 'b']);
});

test('a turn that failed has published nothing, nor has one whose commit was not applied', async (t) => {
  const world = await startPublisher();
  await world.ask.subscribe('g');
  await t.throwsAsync(world.ask.fail('a'), { instanceOf: TerminalError });
  world.failures.push(new StoreError('unavailable', 'disk full'));
  await t.throwsAsync(world.ask.write('b'));
  t.deepEqual(world.events(), []);
});

test('a turn that was run again publishes once', async (t) => {
  const world = await startPublisher();
  await world.ask.subscribe('g');
  await world.ask.write('first');
  world.failures.push(new StoreError('unknown', 'the answer was lost'));
  const written = world.ask.write('again');
  await world.clock.advance(1_000);
  await written;
  t.deepEqual(world.events(), ['first', 'again']);
});

test('the events of a turn are published also when its caller no longer waits', async (t) => {
  const world = await startPublisher();
  await world.ask.subscribe('g');
  world.hold();
  const late = t.throwsAsync(world.ask.write('a', { deadlineMs: 500 }));
  await world.clock.advance(1_000);
  await late;
  world.release();
  await drainPromises();
  t.deepEqual(world.events(), ['a']);
});

test('a subscription tells the incarnation that the events then name', async (t) => {
  const world = await startPublisher();
  const registration = await world.ask.subscribe('g');
  await world.ask.write('a');
  t.is(world.sent[0]?.host, hostOfRegistration(registration));
});

const actor = { kind: 'publisher', id: 'p' };

function createPublisher(subscriptionsMax = 10) {
  const clock = new FakeClock();
  const sent: (HostEvent & { gateway: string })[] = [];
  const transport = {
    isConnected: true,
    publish: (gateway: string, event: HostEvent) => void sent.push({ gateway, ...event }),
  };
  const publisher = new Publisher({
    clock,
    transport,
    shardCount: testShardCount,
    host: 'h',
    subscriptionsMax,
  });
  const of = (gateway: string) =>
    sent.filter((event) => event.gateway === gateway).map(({ sequence, event }) => [sequence, event]);
  return { clock, publisher, sent, transport, of };
}

test('an event that takes work is made once for all who subscribed, and not at all for nobody', (t) => {
  const { publisher, of } = createPublisher();
  let made = 0;
  const publish = () => {
    made += 1;
    return 'event';
  };
  publisher.signalled(actor, [{ publish }]);
  t.is(made, 0);
  publisher.signalled(actor, [{ subscribe: 'a' }, { subscribe: 'b' }, { publish }]);
  t.is(made, 1);
  t.deepEqual([of('a'), of('b')], [[[1, 'event']], [[1, 'event']]]);
});

test('a function that makes no event sends nothing, and takes no number', (t) => {
  const { publisher, of } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }, { publish: () => undefined }, { publish: 'event' }]);
  t.deepEqual(of('a'), [[1, 'event']]);
});

test('every gateway that subscribed gets each event once, under numbers of its own', (t) => {
  const { publisher, of } = createPublisher();
  publisher.signalled(actor, [
    { subscribe: 'a' },
    { publish: 1 },
    { subscribe: 'b' },
    { subscribe: 'a' },
    { publish: 2 },
  ]);
  publisher.signalled({ ...actor, id: 'another' }, [{ publish: 3 }]);
  t.deepEqual(of('a'), [
    [1, 1],
    [2, 2],
  ]);
  t.deepEqual(of('b'), [[1, 2]]);
});

test('heartbeats after an event repeat its number, so that its loss shows and their own does not', async (t) => {
  const { clock, publisher, sent } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }, { publish: 1 }]);
  await clock.advance(10_000);
  t.is(sent.length, 2);
  t.like(sent.at(-1), { sequence: 1, address: noActor });
  await clock.advance(60_000);
  t.is(sent.length, 4);
  t.like(sent.at(-1), { sequence: 1, address: noActor });
  publisher.signalled(actor, [{ publish: 2 }]);
  t.like(sent.at(-1), { sequence: 2, event: 2 });
  await clock.advance(10_000);
  t.like(sent.at(-1), { sequence: 2, address: noActor });
});

test('a gateway that was sent nothing for long gets no heartbeats, and is told the number when it renews', async (t) => {
  const { clock, publisher, sent } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'quiet' }]);
  publisher.signalled({ ...actor, id: 'another' }, [{ subscribe: 'a' }, { publish: 1 }]);
  await clock.advance(600_000);
  t.deepEqual(
    sent.map(({ gateway }) => gateway),
    ['a', 'a', 'a', 'a'],
  );
  t.is(publisher.renew([{ ...actor, id: 'another' }], 'a').sequence, 1);
});

test('heartbeats wait until a host that was cut off is connected again', async (t) => {
  const { clock, publisher, sent, transport } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }, { publish: 1 }]);
  transport.isConnected = false;
  await clock.advance(300_000);
  t.is(sent.length, 1);
  transport.isConnected = true;
  await clock.advance(70_000);
  t.is(sent.length, 4);
});

test('a gateway that missed events is told whose they were, each actor once', (t) => {
  const { publisher } = createPublisher();
  const [one, two, three] = ['1', '2', '3'].map((id) => ({ ...actor, id })) as [Address, Address, Address];
  for (const each of [one, two, three]) publisher.signalled(each, [{ subscribe: 'a' }]);
  for (const each of [one, two, three, two]) publisher.signalled(each, [{ publish: 'event' }]);
  t.deepEqual(publisher.missed('a', 1).actors, [two, three]);
  t.deepEqual(publisher.missed('a', 4).actors, []);
  t.is(publisher.missed('a', 5).actors, null);
  t.is(publisher.missed('b', 1).actors, null);
});

test('subscribers of past events are forgotten after a bounded number of them', (t) => {
  const { publisher } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }]);
  for (let each = 0; each < rememberedMax + 1; each += 1) publisher.signalled(actor, [{ publish: each }]);
  t.deepEqual(publisher.missed('a', 1).actors, [actor]);
  t.is(publisher.missed('a', 0).actors, null);
});

test('a subscription that is not renewed expires, and then nothing is sent at all', async (t) => {
  const { clock, publisher, sent } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }]);
  await clock.advance(800_000);
  publisher.signalled(actor, [{ subscribe: 'a' }]);
  await clock.advance(800_000);
  publisher.signalled(actor, [{ publish: 1 }]);
  t.is(sent.at(-1)?.event, 1);
  await clock.advance(120_000);
  t.is(publisher.size, 0);
  const before = sent.length;
  publisher.signalled(actor, [{ publish: 2 }]);
  await clock.advance(60_000);
  t.is(sent.length, before);
});

test('an actor that leaves with its shard has no subscriptions here any more', (t) => {
  const { publisher, sent } = createPublisher();
  publisher.signalled(actor, [{ subscribe: 'a' }]);
  const shard = shardOf(actor, testShardCount);
  publisher.dropShards(new Set([(shard + 1) % testShardCount]));
  t.is(publisher.size, 1);
  const before = publisher.registrationOf(actor);
  publisher.dropShards(new Set([shard]));
  t.not(publisher.registrationOf(actor), before, 'so that a gateway knows that its subscription is gone');
  publisher.signalled(actor, [{ publish: 1 }]);
  t.deepEqual(sent, []);
});

test('beyond the bound new subscriptions are rejected and known ones renewed', async (t) => {
  const { publisher } = createPublisher(1);
  publisher.signalled(actor, [{ subscribe: 'a' }]);
  t.true(publisher.maySubscribe(actor, 'a'));
  t.false(publisher.maySubscribe(actor, 'b'));
  t.false(publisher.maySubscribe({ ...actor, id: 'another' }, 'a'));
});

test('a turn that may not subscribe fails as overloaded', async (t) => {
  const { clock, publisher } = createPublisher(0);
  const { RunningTurn } = await import('../actor/turn.ts');
  const scope = { self: actor, nowMs: clock.nowMs(), publisher };
  const turn = new RunningTurn(scope as unknown as ConstructorParameters<typeof RunningTurn>[0]);
  t.throws(() => turn.subscribe('a'), { instanceOf: OverloadedError });
});

test('subscriptions that are renewed go on without their actor, and the others are told of', async (t) => {
  const clock = new FakeClock();
  const sent: string[] = [];
  const transport = {
    isConnected: true,
    publish: (_: string, { address }: { address: Address }) => void sent.push(address.id),
  };
  const one = new Publisher({ transport, clock, shardCount: 16, host: 'h' });
  const [a, b] = [
    { kind: 'user', id: 'a' },
    { kind: 'user', id: 'b' },
  ] as const;
  for (const actor of [a, b]) one.signalled(actor, [{ subscribe: 'g' }]);
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await clock.advance(600_000);
    const { host, lapsed } = one.renew([a, { kind: 'user', id: 'c' }], 'g');
    t.deepEqual([host, lapsed], ['h', [1]]);
    t.deepEqual(one.renew([a], 'another').lapsed, [0]);
  }
  sent.length = 0;
  for (const actor of [a, b]) one.signalled(actor, [{ publish: 'event' }]);
  t.deepEqual(sent, ['a']);
  t.is(one.size, 1);
});
