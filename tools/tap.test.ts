import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { tapReader } from './tap.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The reader's results for these lines: one for each call, by the name of the listener. */
function read(lines: readonly string[]): readonly string[] {
  const verdicts: string[] = [];
  const tell = (what: string) => (title: string) => void verdicts.push(`${what}: ${title}`);
  const reader = tapReader({
    passed: tell('passed'),
    skipped: tell('skipped'),
    failed: tell('failed'),
    reason: (title, line) => void verdicts.push(`of ${title}: ${line.trim()}`),
    other: tell('other'),
  });
  for (const line of lines) reader(line);
  return verdicts;
}

test("the test runner's report of a failed test is its reason, with its notes", (t) => {
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'tap-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const source = `
    import test from 'ava';
    test.serial('stands', (t) => { t.log('well'); t.pass(); });
    test.serial('falls', (t) => { t.log('a note'); t.deepEqual(['it was late'], []); });
    test.skip('rests', (t) => t.pass());
  `;
  writeFileSync(join(folder, 'ava.config.js'), `export default { files: ['example.js'] };`);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'example.js'), source);
  const ava = join(root, 'node_modules', '.bin', 'ava');
  const { AVA_PATH: _, ...env } = process.env;
  const { stdout } = spawnSync(ava, ['--tap'], { cwd: folder, env, encoding: 'utf8' });
  const lines = read(stdout.split('\n').filter((line) => line !== ''));
  const verdicts = lines.filter((each) => /^(passed|skipped|failed)/.test(each));
  t.deepEqual(verdicts.toSorted(), ['failed: falls', 'passed: stands', 'skipped: rests']);
  t.true(lines.includes('of falls: #   a note'), lines.join('\n'));
  t.regex(lines.filter((each) => each.startsWith('of falls')).join('\n'), /it was late/);
  t.notRegex(lines.join('\n'), /well|other: (?!# )/);
});

test('output between tests belongs to none of them', (t) => {
  const lines = [
    'TAP version 13',
    'not ok 1 - a',
    '  broken',
    '# b',
    '#   a note of b',
    'ok 2 - c',
    'hello',
    '1..2',
  ];
  t.deepEqual(read(lines), ['failed: a', 'of a: broken', 'passed: c', 'other: hello']);
});
