/** How long runs are, how many VUs they have, and which part of them one of several machines makes. */
import test from 'ava';
import { durationSecondsOf, vusMaxOfMachine } from '../../load-tests/profiles.ts';
import { expectPartOf, lengthOf } from '../../load-tests/support/segment.ts';
import { withinVus } from '../../load-tests/support/vus.ts';

test('a smoke test lasts a minute, and a soak of any profile much longer than its other runs', (t) => {
  t.is(durationSecondsOf('steady-mix', 'smoke'), 60);
  t.is(durationSecondsOf('soak', 'full'), 5 * 3_600);
  t.throws(() => durationSecondsOf('soak', 'huge'), { message: /no profile huge/ });
});

const scenarios = {
  mix: { exec: 'mix', preAllocatedVUs: 500, maxVUs: 25_500 },
  push: { exec: 'push', preAllocatedVUs: 40, maxVUs: 540 },
};
const totalOf = (all: Readonly<Record<string, { maxVUs?: number }>>) =>
  Object.values(all).reduce((total, { maxVUs = 0 }) => total + maxVUs, 0);

test('scenarios together have no more VUs than there is memory for, and each has what it begins with first', (t) => {
  const { mix, push } = withinVus(scenarios, vusMaxOfMachine);
  t.is(mix?.exec, 'mix');
  t.is(mix?.preAllocatedVUs, 500);
  t.is(push?.preAllocatedVUs, 40);
  t.true((push?.maxVUs ?? 0) > 40);
  const total = totalOf(withinVus(scenarios, vusMaxOfMachine));
  t.true(total <= vusMaxOfMachine && total > vusMaxOfMachine - 3, String(total));
});

test('where memory lasts for less than they begin with, all begin with less, and each with one', (t) => {
  const few = withinVus(scenarios, 100);
  t.deepEqual(few['mix'], { exec: 'mix', preAllocatedVUs: 92, maxVUs: 92 });
  t.true(totalOf(few) <= 100);
  t.is(withinVus(scenarios, 5)['push']?.preAllocatedVUs, 1);
});

test('where there is memory enough, all have what they want', (t) => {
  t.deepEqual(withinVus(scenarios, 30_000), scenarios);
});

test('a part of a run is read as k6 writes it', (t) => {
  t.deepEqual(
    [undefined, null, '', '0:1', '0:1/2', '1/2:1', '0.25:0.5', '1/4'].map(lengthOf),
    [1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25],
  );
});

test('a part is as long as the machines for which its thresholds were made say', (t) => {
  t.notThrows(() => expectPartOf(3, '1/3:2/3'));
  t.notThrows(() => expectPartOf(1, undefined));
  const message = /made for 1 machines, and runs here as 0:1\/2: set MACHINES/;
  t.throws(() => expectPartOf(1, '0:1/2'), { message });
  t.throws(() => expectPartOf(2, undefined), { message: /as the whole/ });
});
