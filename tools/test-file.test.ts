import test from 'ava';
import { fileOfTest } from './tap.ts';

const exists = (file: string) =>
  file === 'test/races/bans.test.ts' || file === 'process/config/config.test.ts';

test('a test is found in its folders', (t) => {
  t.is(fileOfTest('test › races › bans › a ban ends a session', exists), 'test/races/bans.test.ts');
});

test('a test beside its source is found', (t) => {
  t.is(
    fileOfTest('process › config › config › a setting has a default', exists),
    'process/config/config.test.ts',
  );
});

test('an argument that is no test of a file has none', (t) => {
  t.is(fileOfTest('test/races/bans.test.ts exited with a non-zero exit code: 1', exists), undefined);
  t.is(fileOfTest('', exists), undefined);
});
