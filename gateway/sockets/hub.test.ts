import test from 'ava';
import { User } from '../../actors/user/contract.ts';
import { Vault } from '../../actors/vault/contract.ts';
import type { SubscribedActors, Subscriber } from '../../runtime/events.ts';
import type { Actors } from '../../runtime/handles.ts';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { sliceFrames } from './broadcasts.ts';
import { Hub } from './hub.ts';
import type { SocketMetrics } from './metrics.ts';
import { OpenSocket } from './open-socket.ts';

const claims = { userUuid: 'alice', sessionUuid: 'first' };
const actor = { kind: User.name, id: 'alice' };

/**
 * A hub in front of an actor that answers registrations by `open`. It records the subscriptions and counts the
 * reported ends.
 */
function startHub(open: () => Promise<{ living: readonly string[]; host?: string }>) {
  const subscribed: string[] = [];
  let subscriber: Subscriber | undefined;
  const subscriptions: SubscribedActors = {
    waiting: 0,
    add: () => void subscribed.push('added'),
    registered: (_actor, host) => void subscribed.push(`registered ${host}`),
    endsWithin: (_actor, ms) => void subscribed.push(`ends within ${ms}`),
    failed: () => void subscribed.push('failed'),
    remove: () => void subscribed.push('removed'),
    stop: () => {},
  };
  const actors = { get: () => ({ ask: { openSocket: open } }) } as unknown as Actors;
  const hub = new Hub({
    actors,
    subscribe: (listener) => {
      subscriber = listener;
      return subscriptions;
    },
    clock: new FakeClock(),
    random: new SeededRandom(1),
    metrics: {} as SocketMetrics,
    limits: { socketsMax: 1, socketsPerUserMax: 1, membershipsMax: 1 },
  });
  let ends = 0;
  const watch = () =>
    hub.watch(claims, () => {
      ends += 1;
    });
  const watchWhileAsking = () =>
    hub.watchWhileAsking(claims, () => {
      ends += 1;
    });
  const publish = (sessions: readonly string[]) =>
    subscriber?.event(actor, { event: 'sessions-ended', sessions }, true);
  const registerBy = (by: Actors) => subscriber?.register(actor, by);
  return {
    watch,
    watchWhileAsking,
    publish,
    subscribed,
    ends: () => ends,
    registerBy,
    register: () => registerBy(actors),
  };
}

const living = async () => ({ living: ['first'], host: 'here' });

test('a watch is told of the end of its session, and of no other', async (t) => {
  const { watch, publish, subscribed, ends } = startHub(living);
  const unwatch = watch();
  await drainPromises();
  publish(['second']);
  t.is(ends(), 0);
  publish(['first', 'second']);
  t.is(ends(), 1);
  unwatch();
  unwatch();
  publish(['first']);
  t.is(ends(), 1);
  t.deepEqual(subscribed, ['added', 'registered here', 'removed']);
});

test('a session that has ended before it could be watched is told as ended', async (t) => {
  const { watch, ends } = startHub(async () => ({ living: [] }));
  watch();
  await drainPromises();
  t.is(ends(), 1);
});

test('where the registration fails, a later one finds what has ended meanwhile', async (t) => {
  let answer = (): Promise<{ living: readonly string[] }> => Promise.reject(new Error('away'));
  const { watch, subscribed, ends, register } = startHub(() => answer());
  watch();
  await drainPromises();
  t.deepEqual([subscribed, ends()], [['added', 'failed'], 0]);
  answer = async () => ({ living: [] });
  await register();
  t.is(ends(), 1);
});

test('a user is registered anew by the actors that the registration is given', async (t) => {
  const { watch, registerBy } = startHub(() => Promise.reject(new Error('away')));
  watch();
  await drainPromises();
  t.is(await registerBy({ get: () => ({ ask: { openSocket: living } }) } as unknown as Actors), 'here');
});

test('a watch by the question of its caller misses no end after the answer, and asks nothing more', async (t) => {
  const { watchWhileAsking, publish, subscribed, ends } = startHub(() => t.fail() as never);
  const watch = watchWhileAsking();
  publish(['first']);
  t.is(ends(), 1);
  watch.registered({ host: 'here', endsInMs: 5 });
  await drainPromises();
  watch.end();
  t.deepEqual(subscribed, ['added', 'ends within 5', 'registered here', 'removed']);
});

test('a watch by the question of its caller asks by itself where the host of an earlier release answered', async (t) => {
  const { watchWhileAsking, subscribed } = startHub(living);
  watchWhileAsking().registered({});
  await drainPromises();
  t.deepEqual(subscribed, ['added', 'registered here']);
});

test('the subscription goes with the last watch of the user', async (t) => {
  const { watch, subscribed } = startHub(living);
  const first = watch();
  const second = watch();
  first();
  t.false(subscribed.includes('removed'));
  second();
  t.true(subscribed.includes('removed'));
});

const members = 12;
const socketsEach = 100;

/** A hub with sockets of all members of two vaults. The event loop turns when the test says so. */
async function crowdedHub() {
  const clock = new FakeClock();
  const users = Array.from({ length: members }, (_, at) => `member-${at}`);
  const memberships = Object.fromEntries(users.map((user) => [user, 1]));
  const vaults = { first: 1, second: 1 };
  let subscriber: Subscriber | undefined;
  let later: (() => void)[] = [];
  const ask = {
    openSocket: async ({ sessions }: { sessions: readonly string[] }) => ({ living: sessions, vaults }),
    subscribe: async () => ({ memberships }),
  };
  const hub = new Hub({
    actors: { get: () => ({ ask }) } as unknown as Actors,
    subscribe: (listener) => {
      subscriber = listener;
      return { waiting: 0, add() {}, registered() {}, endsWithin() {}, failed() {}, remove() {}, stop() {} };
    },
    clock,
    random: new SeededRandom(1),
    metrics: { sent: () => {}, vaultAsked: () => {} } as unknown as SocketMetrics,
    limits: { socketsMax: 10_000, socketsPerUserMax: socketsEach, membershipsMax: 1_000 },
    defer: (work) => later.push(work),
  });
  /** Frames sent, for each socket. */
  const texts: string[][] = [];
  let frames = 0;
  for (const userUuid of users) {
    for (let at = 0; at < socketsEach; at += 1) {
      const socket = new OpenSocket({ userUuid, sessionUuid: `${userUuid}-${at}` });
      hub.add(socket);
      if (at === 0) await hub.check(socket);
      const got: string[] = [];
      texts.push(got);
      socket.opened({
        send: (text) => {
          frames += 1;
          return got.push(text) && 1;
        },
        end: () => {},
        close: () => {},
      });
    }
  }
  await drainPromises();
  for (const got of texts) got.length = 0;
  frames = 0;
  const publish = (vault: string, event: object, isBehind = false) =>
    subscriber?.event({ kind: Vault.name, id: vault }, event, isBehind);
  return {
    clock,
    texts,
    changed: (vault: string, timestamp: number) => publish(vault, { event: 'items-changed', timestamp }),
    changedAfterLoss: (vault: string, timestamp: number) =>
      publish(vault, { event: 'items-changed', timestamp }, true),
    removed: (vault: string, userUuid: string) =>
      publish(vault, { event: 'member-removed', userUuid, membership: 1 }, true),
    repaired: (vault: string) => subscriber?.repaired({ kind: Vault.name, id: vault }),
    /** How many frames were sent since the last turn of the loop, which turns now. */
    turn(): number {
      const work = later;
      const sent = frames;
      later = [];
      frames = 0;
      for (const each of work) each();
      return sent;
    },
  };
}

type CrowdedHub = Awaited<ReturnType<typeof crowdedHub>>;

/** The frames sent between two turns of the loop, until there are none. */
function slices(hub: CrowdedHub): readonly number[] {
  const sent: number[] = [];
  for (let count = hub.turn(); count > 0; count = hub.turn()) sent.push(count);
  return sent;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
/** A user's notice reaches all of their sockets at once. */
const framesMax = sliceFrames + socketsEach;

test('a crowded vault notifies a bounded number of sockets between two turns of the event loop', async (t) => {
  const hub = await crowdedHub();
  hub.changed('first', 1);
  hub.changed('second', 2);
  const sent = slices(hub);
  t.true(
    sent.every((count) => count < framesMax),
    `${sent}`,
  );
  t.is(sum(sent), 2 * members * socketsEach);
  t.true(hub.texts.every(({ length }) => length === 2));
});

test('those who may have missed something are told as many at a time', async (t) => {
  const hub = await crowdedHub();
  hub.repaired('first');
  hub.repaired('second');
  await hub.clock.advance(250);
  const sent = slices(hub);
  t.true(
    sent.every((count) => count < framesMax),
    `${sent}`,
  );
  t.is(sum(sent), members * socketsEach);
});

test('no socket is told of a change before an earlier one of the same vault', async (t) => {
  const hub = await crowdedHub();
  hub.changed('first', 1_000);
  hub.turn();
  hub.changed('first', 2_000);
  await hub.clock.advance(1_000);
  t.is(Math.max(...hub.texts.map(({ length }) => length)), 1);
  slices(hub);
  await hub.clock.advance(250);
  slices(hub);
  const [first] = hub.texts;
  t.is(new Set(first).size, 2);
  for (const texts of hub.texts) t.deepEqual(texts, first);
});

test('a member who is removed while others are told is not told any more', async (t) => {
  const hub = await crowdedHub();
  hub.changed('first', 1);
  hub.removed('first', `member-${members - 1}`);
  slices(hub);
  t.deepEqual(
    hub.texts.map(({ length }) => length),
    hub.texts.map((_, at) => (at < (members - 1) * socketsEach ? 1 : 0)),
  );
});

test('nobody is told of a change whose predecessors were lost, until the subscription holds again', async (t) => {
  const hub = await crowdedHub();
  hub.changedAfterLoss('first', 1);
  t.is(sum(slices(hub)), 0);
  hub.repaired('first');
  await hub.clock.advance(250);
  t.is(sum(slices(hub)), members * socketsEach);
});
