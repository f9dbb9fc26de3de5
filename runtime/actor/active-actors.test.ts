import test, { type ExecutionContext } from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { ledger } from '../../test/kit/ledger.ts';
import { RetryableError } from '../errors.ts';
import { ActiveActors } from './active-actors.ts';
import { Actor } from './actor.ts';

/** How often the actors of a process are asked what they hold, which each tick does with those that it looks at. */
function countLooks() {
  const own = Object.getOwnPropertyDescriptor(Actor.prototype, 'heldBytes');
  if (own?.get === undefined) throw new Error('actors do not say what they hold');
  const { get } = own;
  let looks = 0;
  Object.defineProperty(Actor.prototype, 'heldBytes', {
    ...own,
    get(this: Actor) {
      looks += 1;
      return get.call(this);
    },
  });
  return { count: () => looks, restore: () => Object.defineProperty(Actor.prototype, 'heldBytes', own) };
}

test.serial(
  'actors that nobody uses are looked at every five seconds, and not four times a second',
  async (t) => {
    const actors = 200;
    const clock = new FakeClock();
    const host = await startTestHost({ kinds: [ledger], clock, leaseMs: 1_000_000_000 });
    const added = Promise.all(
      Array.from({ length: actors }, (_, id) => host.actors.get(ledger, String(id)).ask.add(1)),
    );
    await clock.advance(6_000);
    await added;
    const looks = countLooks();
    t.teardown(looks.restore);
    await clock.advance(20_000);
    t.true(looks.count() >= 3 * actors, `${looks.count()} looks`);
    t.true(looks.count() <= 5 * actors, `${looks.count()} looks`);
  },
);

/** A clock that counts the timers that fired: each wakes the process. */
class CountingClock extends FakeClock {
  fired = 0;

  override schedule(delayMs: number, fire: () => void): () => void {
    return super.schedule(delayMs, () => {
      this.fired += 1;
      fire();
    });
  }
}

test('a process whose actors are idle is woken less than once a second', async (t) => {
  const clock = new CountingClock();
  const { actors } = await startTestHost({ kinds: [ledger], clock, leaseMs: 1_000_000_000 });
  await actors.get(ledger, 'a').ask.add(1);
  await clock.advance(6_000);
  clock.fired = 0;
  await clock.advance(60_000);
  t.true(clock.fired < 60, `${clock.fired} timers`);
});

/** The call may find no actor that is in use, so nothing looks at the actor before the next round. */
async function lateCallOfIdleActor(t: ExecutionContext) {
  const clock = new FakeClock();
  let isSilent = false;
  const { actors } = await startTestHost({
    kinds: [ledger],
    clock,
    leaseMs: 1_000_000_000,
    schedule: async (_method, apply) => {
      if (isSilent) await new Promise(() => {});
      return apply();
    },
  });
  const { ask } = actors.get(ledger, 'a');
  await ask.add(1);
  await clock.advance(21_100);
  isSilent = true;
  let failure: unknown;
  ask.add(1, { deadlineMs: 300 }).catch((error) => {
    failure = error;
  });
  await drainPromises();
  await clock.advance(550);
  t.true(failure instanceof RetryableError);
}

test(
  'a call of an actor that was idle for long still ends within a quarter of a second of its deadline',
  lateCallOfIdleActor,
);

test.serial(
  'a message to an idle actor whose shard is leaving ends as soon after its deadline',
  async (t) => {
    const { deliver } = ActiveActors.prototype;
    t.teardown(() => {
      ActiveActors.prototype.deliver = deliver;
    });
    ActiveActors.prototype.deliver = function (address, message) {
      deliver.call(this, address, { ...message, reachesLeaving: true });
    };
    await lateCallOfIdleActor(t);
  },
);
