import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { silentLogger } from '../runtime/ports.ts';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { openDataDirectory } from './data-directory.ts';
import { LastRun } from './last-run.ts';
import type { Machine } from './machine.ts';

const machine: Machine = { name: 'notes-0', id: 'abc', boot: 'first' };

function folderOf(t: ExecutionContext): string {
  return join(temporaryFolder(t), 'data');
}

/** A process on this directory, and the leases that it gives up as it starts. */
async function start(path: string, { nodeId = 'a', on = machine }: { nodeId?: string; on?: Machine } = {}) {
  const directory = await openDataDirectory(path);
  const lastRun = await LastRun.open({ directory, nodeId, logger: silentLogger, machine: on });
  const givenUp: string[] = [];
  await lastRun.giveUp({ leave: async (id, incarnation) => void givenUp.push(`${id} ${incarnation}`) });
  return {
    givenUp,
    lastRun,
    directory,
    /** Simulates the end of a process. */
    die: () => directory.release(),
    async close() {
      await lastRun.forget();
      await directory.release();
    },
  };
}

test('the lease of a process that died on this directory is given up by the next one', async (t) => {
  const path = folderOf(t);
  const first = await start(path);
  t.deepEqual(first.givenUp, []);
  await first.lastRun.remember('a1');
  await first.lastRun.remember('a2');
  await first.die();
  const second = await start(path, { nodeId: 'renamed' });
  t.deepEqual(
    second.givenUp,
    ['a a2'],
    'the last one that it may have registered, under the name it had then',
  );
  await second.die();
});

test('a process that closed may still live, so its lease is not given up', async (t) => {
  const path = folderOf(t);
  const first = await start(path);
  await first.lastRun.remember('a1');
  await first.close();
  const second = await start(path);
  t.deepEqual(second.givenUp, []);
  await second.die();
});

test('a copy of the directory says nothing of the process that wrote there', async (t) => {
  const path = folderOf(t);
  const living = await start(path);
  await living.lastRun.remember('a1');
  const copy = `${path}-copy`;
  cpSync(path, copy, {
    recursive: true,
    preserveTimestamps: true,
    filter: (name) => !name.endsWith('.sock'),
  });
  const other = await start(copy);
  t.deepEqual(other.givenUp, []);
  await other.die();
  await living.die();
});

test('a copy in the place of the directory, moved or removed beneath a living process, is another one', async (t) => {
  const path = folderOf(t);
  const living = await start(path);
  await living.lastRun.remember('a1');
  const copy = `${path}-copy`;
  cpSync(path, copy, { recursive: true, filter: (name) => !name.endsWith('.sock') });
  for (let n = 0; n < 20; n += 1) {
    rmSync(path, { recursive: true });
    cpSync(copy, path, { recursive: true, preserveTimestamps: true });
    const other = await start(path);
    t.deepEqual(other.givenUp, []);
    await other.die();
  }
  await living.die();
});

test('after another start of the machine, or where that is not known, the lease is waited out', async (t) => {
  const path = folderOf(t);
  const first = await start(path);
  await first.lastRun.remember('a1');
  await first.die();
  for (const boot of ['second', undefined]) {
    const other = await start(path, { on: { ...machine, boot } });
    t.deepEqual(other.givenUp, []);
    await other.die();
  }
});

test('a record is kept until what it names was given up', async (t) => {
  const path = folderOf(t);
  const first = await start(path);
  await first.lastRun.remember('a1');
  await first.die();
  const directory = await openDataDirectory(path);
  const unlucky = await LastRun.open({ directory, nodeId: 'a', logger: silentLogger, machine });
  const away = () => Promise.reject(new Error('the database is away'));
  await t.throwsAsync(unlucky.giveUp({ leave: away }), { message: 'the database is away' });
  await unlucky.forget();
  await directory.release();
  const third = await start(path);
  t.deepEqual(third.givenUp, ['a a1']);
  await third.die();
});

for (const text of ['', 'nothing', 'null', '{"directoryId":1}']) {
  test(`a record that says nothing is none: ${JSON.stringify(text)}`, async (t) => {
    const path = folderOf(t);
    const directory = await openDataDirectory(path);
    await directory.replace('last-run', text);
    await directory.release();
    const next = await start(path);
    t.deepEqual(next.givenUp, []);
    await next.die();
  });
}
