import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { UnavailableError } from '../errors.ts';
import { silentLogger } from '../ports.ts';
import { Incarnations, type LiveIncarnation } from './incarnations.ts';

/** Members whose second one loses its lease while it starts, and may not notice. */
function lostAtSecondStart({ fails }: { readonly fails: boolean }) {
  const clock = new FakeClock();
  const made: { readonly isAbandoned: () => boolean; readonly lose: () => void }[] = [];
  const create = (_incarnation: string, lose: () => void): LiveIncarnation => {
    let abandoned = false;
    const number = made.push({ isAbandoned: () => abandoned, lose });
    return {
      async start() {
        if (number !== 2) return;
        lose();
        if (fails) throw new UnavailableError('ended during its start');
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

for (const fails of [true, false]) {
  const name = fails ? 'whose start then fails' : 'whose start goes on';
  test(`a process never has more than one incarnation, also when one is lost ${name}`, async (t) => {
    const { clock, made, incarnations } = lostAtSecondStart({ fails });
    await incarnations.start();
    made[0]?.lose();
    await clock.advance(60_000);
    await drainPromises();
    t.is(made.length, 3);
    t.is(made.filter(({ isAbandoned }) => !isAbandoned()).length, 2, 'the first ends itself');
  });
}
