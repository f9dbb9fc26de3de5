import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { ledger } from '../../test/kit/ledger.ts';
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
