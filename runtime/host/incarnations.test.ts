import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { UnavailableError } from '../errors.ts';
import { silentLogger } from '../ports.ts';
import { Incarnations, type LiveIncarnation } from './incarnations.ts';

/** Members whose second one loses its lease while it starts. */
function lostAtSecondStart() {
  const clock = new FakeClock();
  const made: { readonly isAbandoned: () => boolean; readonly lose: () => void }[] = [];
  const create = (_incarnation: string, lose: () => void): LiveIncarnation => {
    let abandoned = false;
    const number = made.push({ isAbandoned: () => abandoned, lose });
    return {
      async start() {
        if (number !== 2) return;
        lose();
        throw new UnavailableError('ended during its start');
      },
      abandon: () => {
        abandoned = true;
      },
    };
  };
  const onRejected = (error: unknown) => {
    throw error;
  };
  const random = new SeededRandom(1);
  return {
    clock,
    made,
    incarnations: new Incarnations({ clock, random, logger: silentLogger, create, onRejected }),
  };
}

test('a process never has more than one incarnation, also when one is lost while it starts', async (t) => {
  const { clock, made, incarnations } = lostAtSecondStart();
  await incarnations.start();
  made[0]?.lose();
  await clock.advance(60_000);
  await drainPromises();
  t.is(made.length, 3);
  t.is(made.filter(({ isAbandoned }) => !isAbandoned()).length, 2, 'the first ends itself');
});
