import test from 'ava';
import { verdictOf } from './trial.ts';

const lines = (...texts: readonly string[]) => ['TAP version 13', ...texts, ''].join('\n');

test('a mutant is caught by a test that fails, and survives if all pass', (t) => {
  const failed = lines('ok 1 - a title', 'not ok 2 - another title');
  t.deepEqual(verdictOf({ output: failed, ended: 'badly' }), { verdict: 'caught', by: 'another title' });
  t.deepEqual(verdictOf({ output: lines('ok 1 - a title'), ended: 'well' }), { verdict: 'survived' });
});

test('a run in which no test ran never catches', (t) => {
  const runs = [
    { output: lines('1..0', '# tests 0'), ended: 'badly' },
    { output: lines(), ended: 'too late' },
    { output: lines('not ok 1 - SyntaxError: no export named x'), ended: 'badly' },
    { output: lines('not ok 1 - No tests found in a.test.ts'), ended: 'badly' },
  ] as const;
  for (const run of runs) t.is(verdictOf(run).verdict, 'void', run.output);
});
