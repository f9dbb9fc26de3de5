import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { lockDirectory } from './lock.ts';

function directoryOf(t: ExecutionContext, ...below: string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'lock-test-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, ...below);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** A process of its own that takes the lock, says so, and waits to be killed. */
async function holderOf(t: ExecutionContext, directory: string) {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(fileURLToPath(new URL('./lock.ts', import.meta.url)))});
    const lock = await lockDirectory(process.argv[1]);
    console.log(lock ? 'held' : 'refused');
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  return { child, said: String(line).trim() };
}

test('a second taker is refused while the first holds, and served after it released', async (t) => {
  const directory = directoryOf(t);
  const first = await lockDirectory(directory);
  t.truthy(first);
  t.is(await lockDirectory(directory), undefined);
  await first?.release();
  const next = await lockDirectory(directory);
  t.truthy(next);
  await next?.release();
});

test('of many takers at once exactly one holds, over any number of crashed predecessors', async (t) => {
  const directory = directoryOf(t);
  for (let round = 0; round < 5; round += 1) {
    const locks = await Promise.all(Array.from({ length: 16 }, () => lockDirectory(directory)));
    const held = locks.filter((lock) => lock !== undefined);
    t.is(held.length, 1, `round ${round}`);
    await held[0]?.release();
  }
});

test('the lock dies with its process and leaves one name behind', async (t) => {
  const directory = directoryOf(t);
  const { child, said } = await holderOf(t, directory);
  t.is(said, 'held');
  t.is(await lockDirectory(directory), undefined);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = await lockDirectory(directory);
  t.truthy(lock);
  t.deepEqual(readdirSync(directory), ['lock.2.sock']);
  await lock?.release();
});

test('a directory deeper than a socket address can name is locked likewise', async (t) => {
  const directory = directoryOf(t, 'd'.repeat(120), 'e'.repeat(120));
  const lock = await lockDirectory(directory);
  t.truthy(lock);
  t.is(await lockDirectory(directory), undefined);
  await lock?.release();
});

test('a directory that does not exist is an error, not a free lock', async (t) => {
  await t.throwsAsync(lockDirectory(join(tmpdir(), 'lock-test-there-is-no-such-directory')));
});
