import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openDataDirectory } from './data-directory.ts';
import { exitCodes, StartError } from './start-error.ts';

function pathOf(t: ExecutionContext): string {
  const root = mkdtempSync(join(tmpdir(), 'data-test-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  return join(root, 'data');
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('the directory and what is kept in it belong to their owner alone', async (t) => {
  const path = pathOf(t);
  const directory = await openDataDirectory(path);
  await directory.keep('secret', () => 'value');
  t.is(modeOf(path), '700');
  t.is(modeOf(join(path, 'secret')), '600');
  await directory.release();
});

test('a kept text is made once and survives its maker', async (t) => {
  const path = pathOf(t);
  const first = await openDataDirectory(path);
  t.is(await first.keep('secret', () => 'one'), 'one');
  await first.release();
  const second = await openDataDirectory(path);
  t.is(await second.keep('secret', () => 'two'), 'one');
  t.is(readFileSync(join(path, 'secret'), 'utf8'), 'one\n');
  t.deepEqual(
    readdirSync(path).filter((name) => name.endsWith('.tmp')),
    [],
  );
  await second.release();
});

test('the modes of a directory that was there are its owner’s business', async (t) => {
  const path = pathOf(t);
  await (await openDataDirectory(path)).release();
  chmodSync(path, 0o750);
  await (await openDataDirectory(path)).release();
  t.is(modeOf(path), '750');
});

test('a directory in use is refused with the exit code for it', async (t) => {
  const path = pathOf(t);
  const first = await openDataDirectory(path);
  const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
  t.is(error.exitCode, exitCodes.inUse);
  t.regex(error.message, /Another server is running/);
  await first.release();
});

test('a path that cannot be a directory is a wrong setting', async (t) => {
  const path = pathOf(t);
  writeFileSync(path, '');
  const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
  t.is(error.exitCode, exitCodes.config);
});
