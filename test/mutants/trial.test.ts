import test from 'ava';
import { verdictOf } from './trial.ts';

/** As AVA reports a run, with the number of tests it has counted. */
const report = (tests: number, ...lines: readonly string[]) =>
  ['TAP version 13', ...lines, '', `1..${tests}`, `# tests ${tests}`, ''].join('\n');

test('a mutant is caught by a test that fails, and survives if all pass', (t) => {
  const failed = report(2, 'ok 1 - a title', 'not ok 2 - another title');
  t.deepEqual(verdictOf({ output: failed, ended: 'badly' }), { verdict: 'caught', by: 'another title' });
  t.deepEqual(verdictOf({ output: report(1, 'ok 1 - a title'), ended: 'well' }), { verdict: 'survived' });
});

test('a run without a test never catches', (t) => {
  const runs = [
    { output: report(0), ended: 'badly' },
    { output: 'TAP version 13\n', ended: 'too late' },
    { output: report(0, 'not ok 1 - ReferenceError: x is not defined'), ended: 'badly' },
    { output: report(0, 'not ok 1 - runtime/keyring.test.ts:2', '  no export named x'), ended: 'badly' },
  ] as const;
  for (const run of runs) t.is(verdictOf(run).verdict, 'void', run.output);
});
