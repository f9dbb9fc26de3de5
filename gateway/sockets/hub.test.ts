import test from 'ava';
import { User } from '../../actors/user/contract.ts';
import type { SubscribedActors, Subscriber } from '../../runtime/events.ts';
import type { Actors } from '../../runtime/handles.ts';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { Hub } from './hub.ts';
import type { SocketMetrics } from './metrics.ts';

const claims = { userUuid: 'alice', sessionUuid: 'first' };
const actor = { kind: User.name, id: 'alice' };

/** A hub before an actor that answers registrations by `open`; what it subscribes to, and how often it was told of an end. */
function startHub(open: () => Promise<{ living: readonly string[]; host?: string }>) {
  const subscribed: string[] = [];
  let subscriber: Subscriber | undefined;
  const subscriptions: SubscribedActors = {
    waiting: 0,
    add: () => void subscribed.push('added'),
    registered: (_actor, host) => void subscribed.push(`registered ${host}`),
    failed: () => void subscribed.push('failed'),
    remove: () => void subscribed.push('removed'),
    stop: () => {},
  };
  const hub = new Hub({
    actors: { get: () => ({ ask: { openSocket: open } }) } as unknown as Actors,
    subscribe: (given) => {
      subscriber = given;
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
  const publish = (sessions: readonly string[]) =>
    subscriber?.event(actor, { event: 'sessions-ended', sessions });
  return { watch, publish, subscribed, ends: () => ends, register: () => subscriber?.register(actor) };
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

test('the subscription goes with the last watch of the user', async (t) => {
  const { watch, subscribed } = startHub(living);
  const first = watch();
  const second = watch();
  first();
  t.false(subscribed.includes('removed'));
  second();
  t.true(subscribed.includes('removed'));
});
