import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { openDataDirectory } from './data-directory.ts';
import { StartError, serverExitCodes } from './start-error.ts';

function pathOf(t: ExecutionContext): string {
  return join(temporaryFolder(t), 'data');
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('the directory and its contents are closed to all but their owner', async (t) => {
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

test('a directory that others may read, write or list is refused with advice, and left unchanged', async (t) => {
  const path = pathOf(t);
  await (await openDataDirectory(path)).release();
  for (const mode of [0o701, 0o702, 0o704, 0o720, 0o740, 0o750, 0o755, 0o777]) {
    chmodSync(path, mode);
    const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
    t.is(error.exitCode, serverExitCodes.config);
    t.true(
      error.message.includes(`(mode ${mode.toString(8)})`) && error.message.includes(`chmod 700 ${path}`),
    );
    t.is(modeOf(path), mode.toString(8));
  }
  // The permissions after root started the embedded database.
  chmodSync(path, 0o710);
  await (await openDataDirectory(path)).release();
  t.is(modeOf(path), '710');
});

test('a text that is replaced is closed to others, and whole', async (t) => {
  const path = pathOf(t);
  const directory = await openDataDirectory(path);
  for (const text of ['one', 'two', 'two']) {
    await directory.replace('token', text);
    t.is(readFileSync(join(path, 'token'), 'utf8'), `${text}\n`);
    t.is(modeOf(join(path, 'token')), '600');
  }
  t.deepEqual(
    readdirSync(path).filter((name) => name.endsWith('.tmp')),
    [],
  );
  await directory.release();
});

test('a directory held by a server on another machine is refused, with how to go on without that server', async (t) => {
  const path = pathOf(t);
  await (await openDataDirectory(path)).release();
  const holder = 'lock.1.there.holder';
  writeFileSync(join(path, holder), '{"name":"other","id":"","boot":"then"}');
  const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.inUse);
  t.regex(error.message, /the machine "other" .* remove the file lock\.1\.there\.holder/);
  rmSync(join(path, holder));
  await (await openDataDirectory(path)).release();
});

test('a directory in use is refused with the exit code for it', async (t) => {
  const path = pathOf(t);
  const first = await openDataDirectory(path);
  const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.inUse);
  t.regex(error.message, /Another server is running/);
  await first.release();
});

test('a path that cannot be a directory is a wrong setting', async (t) => {
  const path = pathOf(t);
  writeFileSync(path, '');
  const error = await t.throwsAsync(openDataDirectory(path), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.config);
});
