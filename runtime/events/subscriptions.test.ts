import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { testShardCount } from '../../test/kit/host.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { type Address, shardOf } from '../address.ts';
import type { BatchRequest } from '../batches/batch-answers.ts';
import { RetryableError, TerminalError, UnavailableError } from '../errors.ts';
import type { RepairCause } from '../events.ts';
import { silentLogger } from '../ports.ts';
import type { AskCall, GatewayListener } from '../transport/transport.ts';
import { type MissedEvents, noActor, type Renewal } from './publisher.ts';
import { SubscriptionIndex } from './subscription-index.ts';
import { Subscriptions, type SubscriptionsOptions } from './subscriptions.ts';

const user = (id: string): Address => ({ kind: 'user', id });
const a = user('a');
const b = user('b');

/** As bare as a property needs them. */
function startWith({
  missed,
  renew,
  register,
  event,
}: Pick<SubscriptionsOptions, 'register' | 'event'> & {
  readonly missed: (after: number) => Promise<MissedEvents>;
  readonly renew: () => Promise<Renewal>;
}) {
  const clock = new FakeClock();
  const listeners: GatewayListener[] = [];
  const subscriptions = new Subscriptions({
    transport: {
      reachesOthers: true,
      listen: (_gateway, listener) => {
        listeners.push(listener);
        return () => {};
      },
      ask: ({ command, request }) =>
        command === '$missed' ? missed((request as { after: number }).after) : renew(),
    },
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    shardCount: testShardCount,
    gateway: 'g',
    metrics: { received() {}, gap() {}, repaired() {} },
    register,
    event,
    repaired() {},
  });
  subscriptions.start();
  return { subscriptions, clock, listener: listeners[0] as GatewayListener };
}

/** What a host answers to a renewal. */
const noneSent: Renewal = { host: 'h', sequence: 0, lapsed: [] };
const sixSent: Renewal = { ...noneSent, sequence: 6 };

function startSubscriptions(
  register: (actor: Address) => Promise<string | undefined> = async () => 'h',
  renew: (shard: number) => Promise<Renewal> = async () => noneSent,
  missed: (after: number) => Promise<MissedEvents> = async () => ({ host: 'h', actors: null }),
) {
  const clock = new FakeClock();
  const listeners = new Map<string, GatewayListener>();
  const listen = (gateway: string, listener: GatewayListener) => {
    listeners.set(gateway, listener);
    return () => listeners.delete(gateway);
  };
  const log = {
    registered: [] as string[],
    repaired: [] as string[],
    events: [] as unknown[],
    /** Those that may have been shut out by an event that was lost. */
    behind: [] as unknown[],
    causes: [] as RepairCause[],
    gaps: 0,
    renewed: [] as number[],
  };
  const ask = ({ address, command, request }: AskCall): Promise<Renewal | MissedEvents> => {
    if (command === '$missed') return missed((request as { after: number }).after);
    const shards = (request as { actors: Address[] }).actors.map((actor) => shardOf(actor, testShardCount));
    const shard = shardOf(address, testShardCount);
    if (command !== '$renew' || shards.some((each) => each !== shard))
      throw new Error('not a shard of its own');
    log.renewed.push(shard);
    return renew(shard);
  };
  const subscriptions = new Subscriptions({
    transport: { listen, ask, reachesOthers: true },
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    metrics: {
      received() {},
      gap: () => {
        log.gaps += 1;
      },
      repaired: (cause) => log.causes.push(cause),
    },
    shardCount: testShardCount,
    gateway: 'g',
    register: (actor) => {
      log.registered.push(actor.id);
      return register(actor);
    },
    event: (_actor, event, isBehind) => {
      log.events.push(event);
      if (isBehind) log.behind.push(event);
    },
    repaired: ({ id }) => log.repaired.push(id),
  });
  subscriptions.start();
  const listener = listeners.get('g') as GatewayListener;
  const subscribe = (actor: Address, host: string) => {
    subscriptions.add(actor);
    subscriptions.registered(actor, host);
  };
  const event = (host: string, sequence: number, address: Address, what: unknown = 'event') =>
    listener.event({ host, sequence, address, event: what });
  return { subscriptions, clock, listener, log, subscribe, event, listeners };
}

test('an event of an actor that is subscribed to arrives, any other is dropped', (t) => {
  const { subscribe, event, log } = startSubscriptions();
  subscribe(a, 'h');
  event('h', 1, a, 'one');
  event('h', 2, b, 'not subscribed to');
  event('h', 2, noActor, null);
  event('h', 3, a, 'two');
  t.deepEqual(log.events, ['one', 'two']);
  t.is(log.gaps, 0);
});

test('after a gap the actors whose events were lost are registered again, and no others', async (t) => {
  const requests: number[] = [];
  const { subscribe, event, log, clock } = startSubscriptions(undefined, undefined, async (after) => {
    requests.push(after);
    return { host: 'h', actors: [b, user('not subscribed to')] };
  });
  for (const actor of [a, b, user('c')]) subscribe(actor, 'h');
  event('h', 1, a);
  event('h', 3, a);
  await clock.advance(100);
  t.deepEqual(requests, [1]);
  // The event that showed the gap was marked, and what it would have told has to be made up for.
  t.deepEqual([...log.repaired].sort(), ['a', 'b']);
});

test('the events of a host are marked from a gap until its answer, and those of the actors concerned until they are registered', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions(
    () => new Promise((resolve) => clock.schedule(2_000, () => resolve('h'))),
    undefined,
    () => new Promise((resolve) => clock.schedule(3_000, () => resolve({ host: 'h', actors: [a] }))),
  );
  for (const actor of [a, b, user('c')]) subscribe(actor, 'h');
  event('h', 1, a, 'before');
  event('h', 3, b, 'at the gap');
  t.deepEqual(log.behind, ['at the gap']);
  await clock.advance(3_100);
  event('h', 4, user('c'), 'of one that is not concerned');
  event('h', 5, a, 'of one that is');
  t.deepEqual(log.behind, ['at the gap', 'of one that is']);
  await clock.advance(2_100);
  event('h', 6, a, 'after all');
  t.is(log.behind.length, 2);
  t.deepEqual([...log.repaired].sort(), ['a', 'b']);
});

test('after a cut whose losses only a renewal shows, what the host sends is marked until it has answered', async (t) => {
  const { subscribe, event, listener, log, clock } = startSubscriptions(
    undefined,
    undefined,
    () => new Promise((resolve) => clock.schedule(3_000, () => resolve({ host: 'h', actors: [a] }))),
  );
  for (const actor of [a, b]) subscribe(actor, 'h');
  event('h', 5, a);
  await clock.advance(10_000);
  log.behind.length = 0;
  listener.reconnected();
  await clock.advance(1_000);
  event('h', 7, a, 'seven');
  t.deepEqual(log.behind, ['seven']);
});

for (let seed = 1; seed <= 40; seed += 1) {
  test(`nothing follows a loss unmarked before a registration has made up for it, whatever is lost and late (${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const lost = new Map<string, number[]>();
    const covered = new Map<string, number>();
    const actors = [a, b, user('c')];
    let sent: readonly Address[] = [];
    const { subscriptions, clock, listener } = startWith({
      register: async (actor) => {
        await new Promise<void>((resolve) => clock.schedule(random.below(3_000), resolve));
        if (random.chance(0.2)) throw new UnavailableError('nobody serves this actor now');
        covered.set(actor.id, sent.length);
        return 'h';
      },
      missed: async (after) => {
        await new Promise<void>((resolve) => clock.schedule(random.below(3_000), resolve));
        if (random.chance(0.1)) throw new UnavailableError('cut off');
        return { host: 'h', actors: random.chance(0.1) ? null : [...sent.slice(after)] };
      },
      renew: async () => ({ host: 'h', sequence: sent.length, lapsed: [] }),
      event: ({ id }, number, isBehind) => {
        if (isBehind) return;
        const before = (lost.get(id) ?? []).filter((each) => each < Number(number));
        t.true(
          before.every((each) => each <= (covered.get(id) ?? 0)),
          `${id} at ${number}`,
        );
      },
    });
    for (const actor of actors) {
      subscriptions.add(actor);
      subscriptions.registered(actor, 'h');
    }
    for (let step = 0; step < 60; step += 1) {
      await clock.advance(random.below(400));
      if (random.chance(0.1)) listener.reconnected();
      const address = random.pick(actors);
      sent = [...sent, address];
      const sequence = sent.length;
      if (random.chance(0.3)) lost.set(address.id, [...(lost.get(address.id) ?? []), sequence]);
      else listener.event({ host: 'h', sequence, address, event: sequence });
    }
    listener.event({ host: 'h', sequence: sent.length, address: noActor, event: null });
    await clock.advance(60_000);
    for (const [id, numbers] of lost) {
      t.true((numbers.at(-1) ?? 0) <= (covered.get(id) ?? 0), `what ${id} has lost was made up for`);
    }
  });
}

for (const [when, missed] of [
  ['another host answers', async () => ({ host: 'other', actors: [] })],
  ['nobody answers', () => Promise.reject(new UnavailableError('cut off'))],
] as const) {
  test(`after a gap every actor of the host is registered again where ${when}`, async (t) => {
    const { subscribe, event, log, clock } = startSubscriptions(undefined, undefined, missed);
    for (const actor of [a, b]) subscribe(actor, 'h');
    event('h', 2, a);
    await clock.advance(100);
    t.deepEqual([...log.repaired].sort(), ['a', 'b']);
  });
}

test('heartbeats that were lost are no gap, and one that names an event that never came is', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions();
  subscribe(a, 'h');
  event('h', 1, a);
  for (let heartbeat = 0; heartbeat < 3; heartbeat += 1) event('h', 1, noActor, null);
  event('h', 2, a);
  t.is(log.gaps, 0);
  event('h', 3, noActor, null);
  t.is(log.gaps, 1);
  await clock.advance(100);
  t.deepEqual(log.repaired, ['a']);
});

test('after a gap that the host no longer remembers every actor of that host is registered again', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions(async (actor) =>
    actor.id === 'b' ? 'other' : 'h',
  );
  subscribe(a, 'h');
  subscribe(b, 'other');
  event('h', 1, a);
  event('h', 3, a);
  await clock.advance(100);
  t.deepEqual(log.repaired, ['a']);
  t.deepEqual(log.causes, ['gap']);
});

test('the loss of the very first event is a gap too', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions();
  subscribe(a, 'h');
  event('h', 2, noActor, null);
  await clock.advance(100);
  t.deepEqual(log.causes, ['gap']);
});

test('a claimed shard has the actors of that shard registered again', async (t) => {
  const { subscribe, listener, log, clock } = startSubscriptions(async () => 'new');
  const others = Array.from({ length: 40 }, (_, index) => user(`user ${index}`));
  for (const actor of others) subscribe(actor, 'h');
  const shard = shardOf(user('user 0'), testShardCount);
  listener.hinted({ hint: 'freed', shards: [shard] });
  listener.hinted({ hint: 'claimed', shards: [shard], host: 'new' });
  await clock.advance(1_000);
  const inShard = others.filter((actor) => shardOf(actor, testShardCount) === shard).map(({ id }) => id);
  t.deepEqual([...log.repaired].sort(), inShard.sort());
});

test('a registration that was in flight when the shard was claimed is made again', async (t) => {
  const answers: ((host: string) => void)[] = [];
  const { subscribe, listener, log, clock } = startSubscriptions(
    () => new Promise((resolve) => answers.push(resolve)),
  );
  subscribe(a, 'old');
  const claimed = { hint: 'claimed', shards: [shardOf(a, testShardCount)], host: 'x' } as const;
  listener.hinted(claimed);
  await clock.advance(100);
  listener.hinted(claimed);
  await clock.advance(100);
  t.is(answers.length, 1);
  answers[0]?.('old');
  await clock.advance(100);
  t.is(answers.length, 2);
  answers[1]?.('new');
  await drainPromises();
  t.deepEqual(log.repaired, ['a', 'a']);
});

test('after a cut everybody is registered again, and the gaps it made are not repaired twice', async (t) => {
  const { subscribe, event, listener, log, clock } = startSubscriptions(undefined, async () => sixSent);
  subscribe(a, 'h');
  subscribe(b, 'h');
  event('h', 1, a);
  listener.reconnected();
  await clock.advance(1_000);
  event('h', 7, a);
  await clock.advance(1_000);
  t.deepEqual([...log.repaired].sort(), ['a', 'b']);
  event('h', 9, a);
  await clock.advance(1_000);
  t.is(log.repaired.length, 4);
});

test('an event or a registration from another host has the actor registered again', async (t) => {
  const { subscriptions, subscribe, event, log, clock } = startSubscriptions(async () => 'new');
  subscribe(a, 'old');
  event('new', 1, a);
  await clock.advance(100);
  t.deepEqual(log.causes, ['moved']);
  event('new', 2, a);
  await clock.advance(100);
  t.is(log.causes.length, 1);
  subscriptions.registered(a, 'third');
  await clock.advance(100);
  t.is(log.causes.length, 2);
});

test('a registration at a host that has dropped the one before has the actor registered again', async (t) => {
  const { subscriptions, subscribe, log, clock } = startSubscriptions(async () => 'host/1');
  subscribe(a, 'host/0');
  subscriptions.registered(a, 'host/0');
  await clock.advance(100);
  t.deepEqual(log.causes, []);
  // Its hint that it took the shard back was lost, and a new socket of the user registers there.
  subscriptions.registered(a, 'host/1');
  await clock.advance(100);
  t.deepEqual(log.causes, ['moved']);
  t.deepEqual(log.repaired, [a.id]);
});

test('everybody is renewed within ten minutes, by one question for each shard, and nobody is registered', async (t) => {
  const { subscribe, log, clock } = startSubscriptions();
  for (let index = 0; index < 2_000; index += 1) subscribe(user(`user ${index}`), 'h');
  await clock.advance(440_000);
  t.is(log.renewed.length, 0);
  await clock.advance(160_000);
  t.is(new Set(log.renewed).size, testShardCount);
  log.renewed.length = 0;
  for (let minutes = 0; minutes < 60; minutes += 10) await clock.advance(600_000);
  t.true(log.renewed.length <= 8 * testShardCount, `${log.renewed.length}`);
  t.deepEqual([log.registered, log.repaired], [[], []]);
});

test('a renewal shows the loss of a last event whose heartbeats were lost, too, and whose it was', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions(
    undefined,
    async () => sixSent,
    async () => ({ host: 'h', actors: [b] }),
  );
  for (const actor of [a, b]) subscribe(actor, 'h');
  for (let sequence = 1; sequence <= 5; sequence += 1) event('h', sequence, a);
  await clock.advance(600_000);
  t.deepEqual([log.gaps, log.repaired, log.causes], [1, ['b'], ['gap']]);
});

test('a host that sends nothing for long and answers renewals is not taken for another afterwards', async (t) => {
  const { subscribe, event, log, clock } = startSubscriptions(undefined, async () => sixSent);
  subscribe(a, 'h');
  for (let sequence = 1; sequence <= 6; sequence += 1) event('h', sequence, a);
  for (let minutes = 0; minutes < 60; minutes += 10) await clock.advance(600_000);
  event('h', 7, a);
  await clock.advance(1_000);
  t.deepEqual([log.gaps, log.repaired], [0, []]);
});

test('after half a day the sessions are asked for, whatever was heard', async (t) => {
  const { subscribe, log, clock } = startSubscriptions();
  for (let index = 0; index < 20; index += 1) subscribe(user(`user ${index}`), 'h');
  for (let hours = 0; hours < 12; hours += 1) await clock.advance(3_600_000);
  t.is(new Set(log.registered).size, 20);
});

test('a subscription that ends by its age is asked for within a minute of that, and again when that has changed', async (t) => {
  const ends = [100_000, 200_000];
  const { subscriptions, subscribe, log, clock } = startSubscriptions(async (actor) => {
    const next = ends.shift();
    if (next !== undefined) subscriptions.endsWithin(actor, next);
    return 'h';
  });
  subscribe(a, 'h');
  subscribe(b, 'h');
  subscriptions.endsWithin(a, 500_000);
  subscriptions.endsWithin(a, 50_000);
  await clock.advance(49_000);
  t.deepEqual(log.registered, []);
  await clock.advance(61_000);
  t.deepEqual(log.registered, ['a']);
  await clock.advance(110_000);
  t.deepEqual(log.registered, ['a', 'a']);
  await clock.advance(3_600_000);
  t.deepEqual(log.registered, ['a', 'a', 'a']);
});

test('a subscription that the host does not know any more is registered anew, and so are those of another host', async (t) => {
  let answer: Renewal = { ...noneSent, lapsed: [0] };
  const { subscribe, log, clock } = startSubscriptions(
    async () => answer.host,
    async () => answer,
  );
  subscribe(a, 'h');
  await clock.advance(600_000);
  t.deepEqual(log.causes, ['due']);
  answer = { ...noneSent, host: 'another' };
  await clock.advance(600_000);
  t.deepEqual(log.causes, ['due', 'due']);
});

test('after a cut in which nothing was sent nobody is registered anew', async (t) => {
  const { subscribe, event, listener, log, clock } = startSubscriptions(undefined, async () => sixSent);
  for (let index = 0; index < 200; index += 1) subscribe(user(`user ${index}`), 'h');
  for (let sequence = 1; sequence <= 6; sequence += 1) event('h', sequence, a);
  listener.reconnected();
  await clock.advance(20_000);
  t.is(new Set(log.renewed).size, testShardCount);
  t.deepEqual([log.registered, log.repaired], [[], []]);
});

/** How often a subscription is asked for its shard, which a search through all of them has to do with each. */
function countShardLooks() {
  const { add } = SubscriptionIndex.prototype;
  let looks = 0;
  SubscriptionIndex.prototype.add = function (subscription) {
    const { shard } = subscription;
    Object.defineProperty(subscription, 'shard', {
      get() {
        looks += 1;
        return shard;
      },
    });
    add.call(this, subscription);
  };
  return {
    take: () => {
      const taken = looks;
      looks = 0;
      return taken;
    },
    restore: () => {
      SubscriptionIndex.prototype.add = add;
    },
  };
}

test.serial(
  'after a cut, and when a host has claimed shards, nobody looks at the subscriptions of other shards',
  async (t) => {
    const looks = countShardLooks();
    t.teardown(looks.restore);
    const { subscribe, clock, listener, log } = startSubscriptions();
    const all = Array.from({ length: 1_000 }, (_, id) => user(`${id}`));
    for (const actor of all) subscribe(actor, 'h');
    const shards = [...new Set(all.map((actor) => shardOf(actor, testShardCount)))];
    t.is(shards.length, testShardCount);
    looks.take();
    listener.reconnected();
    await clock.advance(5_000);
    t.deepEqual(log.renewed.toSorted(), shards.toSorted());
    t.is(looks.take(), 0);

    listener.hinted({ hint: 'claimed', host: 'h', shards });
    const queued = looks.take();
    t.true(queued <= 3 * all.length, `${queued} looks at ${all.length} subscriptions`);
  },
);

test('a renewal that fails is made again', async (t) => {
  let fails = true;
  const { subscribe, log, clock } = startSubscriptions(undefined, async () => {
    if (fails) throw new UnavailableError('nobody serves this shard now');
    return noneSent;
  });
  subscribe(a, 'h');
  await clock.advance(600_000);
  fails = false;
  const countBefore = log.renewed.length;
  t.true(countBefore > 1);
  await clock.advance(60_000);
  t.is(log.renewed.length, countBefore + 1);
});

test('a shard that nobody serves holds no slot of others', async (t) => {
  const stuck = new Set<string>();
  const { subscribe, listener, log, clock } = startSubscriptions(
    async (actor) => {
      if (stuck.has(actor.id)) await new Promise<void>((resolve) => clock.schedule(5_000, resolve));
      if (stuck.has(actor.id)) throw new UnavailableError('nobody serves this actor now');
      return 'h';
    },
    async () => sixSent,
  );
  for (let index = 0; index < 3_200; index += 1) {
    const actor = user(`user ${index}`);
    if (shardOf(actor, testShardCount) === 3) stuck.add(actor.id);
    subscribe(actor, 'h');
  }
  listener.reconnected();
  await clock.advance(10_000);
  t.is(log.repaired.length, 3_200 - stuck.size);
  log.registered.length = 0;
  await clock.advance(10_000);
  t.true(log.registered.length <= 3, `${log.registered.length}`);
});

test('a registration that fails is made again, until the actor is let go', async (t) => {
  let fails = true;
  const { subscriptions, subscribe, listener, log, clock } = startSubscriptions(
    async () => {
      if (fails) throw new UnavailableError('nobody serves this actor now');
      return 'h';
    },
    async () => sixSent,
  );
  subscribe(a, 'h');
  subscribe(b, 'h');
  listener.reconnected();
  await clock.advance(5_000);
  t.deepEqual(log.repaired, []);
  subscriptions.remove(b);
  fails = false;
  await clock.advance(5_000);
  t.deepEqual(log.repaired, ['a']);
  t.is(subscriptions.waiting, 0);
});

test('thousands are registered as hosts answer, a bounded number at a time, and told at a bounded rate', async (t) => {
  let inFlight = 0;
  let most = 0;
  const { subscriptions, subscribe, listener, log, clock } = startSubscriptions(
    async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => clock.schedule(50, resolve));
      inFlight -= 1;
      return 'h';
    },
    async () => sixSent,
  );
  for (let index = 0; index < 3_000; index += 1) subscribe(user(`user ${index}`), 'h');
  listener.reconnected();
  await clock.advance(2_000);
  t.is(log.registered.length, 3_000);
  t.is(subscriptions.waiting, 0);
  t.true(most <= 512, `${most}`);
  t.true(log.repaired.length <= 2_000, `${log.repaired.length}`);
  await clock.advance(2_500);
  t.is(log.repaired.length, 3_000);
});

/** Many actors that are registered by what they are asked, at a host that answers batches by `together`. */
function startBatches(together: (call: AskCall) => Promise<unknown>) {
  const clock = new FakeClock();
  const messages: string[] = [];
  const repaired = new Set<string>();
  let listener: GatewayListener | undefined;
  const subscriptions = new Subscriptions({
    transport: {
      reachesOthers: true,
      listen: (_gateway, handler) => {
        listener = handler;
        return () => {};
      },
      ask: (call) => {
        messages.push(call.command);
        return call.command === '$askMany' ? together(call) : Promise.resolve('h');
      },
    },
    ...{ clock, random: new SeededRandom(1), logger: silentLogger, shardCount: testShardCount, gateway: 'g' },
    metrics: { received() {}, gap() {}, repaired() {} },
    register: async ({ id }, actors) =>
      String(await actors.get({ name: 'user', commands: Opened }, id).ask.open(null)),
    event() {},
    repaired: ({ id }) => void repaired.add(id),
  });
  subscriptions.start();
  for (let index = 0; index < 3_200; index += 1) {
    subscriptions.add(user(`user ${index}`));
    subscriptions.registered(user(`user ${index}`), 'old');
  }
  const shards = Array.from({ length: testShardCount }, (_, shard) => shard);
  listener?.hinted({ hint: 'claimed', shards, host: 'h' });
  const count = (command: string) => messages.filter((each) => each === command).length;
  return { subscriptions, clock, repaired, count };
}

const Opened = { open: { request: z.null(), reply: z.string() } };
const answerAll = async ({ request }: AskCall) => ({
  replies: (request as BatchRequest).asks.map(() => ({ value: 'h' })),
});

test('after a take-over, registrations of one shard share messages', async (t) => {
  const { subscriptions, clock, repaired, count } = startBatches(answerAll);
  await clock.advance(2_000);
  t.is(subscriptions.waiting, 0);
  await clock.advance(3_000);
  t.is(repaired.size, 3_200);
  t.is(count('open'), 0);
  t.true(count('$askMany') <= 64, `${count('$askMany')}`);
});

test('batches that are lost, and actors that fail in one, leave nobody unregistered', async (t) => {
  const random = new SeededRandom(2);
  const { subscriptions, clock, repaired, count } = startBatches(async (call) => {
    if (random.chance(0.3)) {
      await new Promise<void>((resolve) => clock.schedule(2_000, resolve));
      throw new RetryableError('the call was not answered', { outcome: 'unknown' });
    }
    const { replies } = await answerAll(call);
    return { replies: replies.map((reply) => (random.chance(0.1) ? null : reply)) };
  });
  await clock.advance(20_000);
  t.is(subscriptions.waiting, 0);
  t.is(repaired.size, 3_200);
  t.true(count('open') < 2_000, `${count('open')}`);
});

test('a cluster of an earlier release is asked one by one', async (t) => {
  const { subscriptions, clock, repaired, count } = startBatches(() =>
    Promise.reject(new TerminalError('unknown command user.$askMany')),
  );
  await clock.advance(5_000);
  t.is(subscriptions.waiting, 0);
  t.is(repaired.size, 3_200);
  t.is(count('open'), 3_200);
});

test('one that ended subscribes to nothing and hears nothing', async (t) => {
  const { subscriptions, subscribe, listener, log, clock, listeners } = startSubscriptions();
  subscribe(a, 'h');
  listener.reconnected();
  subscriptions.stop();
  await clock.advance(1_200_000);
  t.deepEqual(log.registered, []);
  t.is(listeners.size, 0);
});
