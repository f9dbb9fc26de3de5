import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { builtUrl } from '../test/kit/built.ts';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { LockedByAnotherMachineError, lockDirectory } from './lock.ts';
import type { Machine } from './machine.ts';

function directoryOf(t: ExecutionContext, ...below: string[]): string {
  const root = temporaryFolder(t);
  const directory = join(root, ...below);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** A separate process that takes the lock, reports it, and waits to be killed. */
async function holderOf(t: ExecutionContext, directory: string) {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(builtUrl('process/lock.ts'))});
    const lock = await lockDirectory(process.argv[1]);
    console.log(lock ? 'held' : 'refused');
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
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

test('exactly one of many simultaneous takers holds the lock, over any number of crashed predecessors', async (t) => {
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
  const [holder, name, ...others] = readdirSync(directory).toSorted();
  t.regex(holder ?? '', /^lock\.2\..*\.holder$/);
  t.deepEqual([name, others], ['lock.2.sock', []]);
  await lock?.release();
  t.deepEqual(readdirSync(directory), ['lock.2.sock']);
});

const here = { name: 'here', id: 'a', boot: 'today' };

/** A killed server of that machine: its socket is silent here either way. */
async function silentHolder(directory: string, machine: Machine): Promise<void> {
  const lock = await lockDirectory(directory, machine);
  const [holder = ''] = readdirSync(directory).filter((name) => name.endsWith('.holder'));
  const text = readFileSync(join(directory, holder), 'utf8');
  await lock?.release();
  writeFileSync(join(directory, holder), text);
}

for (const [what, machine, isTaken] of [
  ['another machine', { name: 'there', id: 'b', boot: 'today' }, false],
  ['another machine of a later start', { name: 'there', id: 'b', boot: 'tomorrow' }, true],
  ['a machine of the same name', { name: 'here', id: 'b', boot: 'tomorrow' }, true],
  ['a copy of this machine', { name: 'there', id: 'a', boot: 'tomorrow' }, true],
  ['another machine, where no system tells of its start', { name: 'there', id: 'b', boot: undefined }, true],
  ['this machine before it was started anew', { ...here, boot: 'yesterday' }, false],
] as const) {
  test(`a server that was cut off on ${what} ${isTaken ? 'keeps the directory' : 'is followed'}`, async (t) => {
    const directory = directoryOf(t);
    await silentHolder(directory, machine);
    if (isTaken) {
      await t.throwsAsync(lockDirectory(directory, here), { instanceOf: LockedByAnotherMachineError });
      await t.throwsAsync(lockDirectory(directory, { ...here, boot: undefined }), {
        instanceOf: LockedByAnotherMachineError,
      });
    } else {
      await (await lockDirectory(directory, here))?.release();
      t.deepEqual(readdirSync(directory), ['lock.2.sock']);
    }
  });
}

test('a server that shut down cleanly on another machine leaves the directory to any other', async (t) => {
  const directory = directoryOf(t);
  await (await lockDirectory(directory, { name: 'there', id: 'b', boot: 'then' }))?.release();
  const lock = await lockDirectory(directory, here);
  t.truthy(lock);
  await lock?.release();
});

test('exactly one of the machines that start at once on one file system holds the lock', async (t) => {
  const directory = directoryOf(t);
  const machines = Array.from({ length: 12 }, (_, n) => ({ name: `machine-${n}`, id: '', boot: `${n}` }));
  const ends = await Promise.allSettled(machines.map((machine) => lockDirectory(directory, machine)));
  const held = ends.flatMap((end) => (end.status === 'fulfilled' && end.value ? [end.value] : []));
  t.is(held.length, 1);
  for (const end of ends)
    if (end.status === 'rejected') t.true(end.reason instanceof LockedByAnotherMachineError);
  await Promise.all(held.map((lock) => lock.release()));
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
