/** The store in a folder, on healthy and on faulty disks. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'ava';
import { type FileSystem, nodeFileSystem } from '../../actors/files/file-system.ts';
import { type LocalDiskOptions, openLocalDisk } from '../../actors/files/local-disk.ts';
import type { FileStore } from '../../actors/files/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { runs } from '../kit/built.ts';
import { drainPromises, FakeClock } from '../kit/clock.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';
import { content, inPieces, nameOf, names, owner, read, unstopped, upload, write } from './blobs.ts';
import { contractOfFileStores, failsWith } from './contract.ts';

const open = (folder: string, options: Partial<LocalDiskOptions> = {}) =>
  openLocalDisk({
    folder,
    reserveBytes: 0,
    isShared: false,
    nodeId: 'main',
    clock: systemClock,
    random: systemRandom,
    ...options,
  });

/** The file system of this machine, except for a test's changes. */
const changed = (changes: Partial<FileSystem>): FileSystem => ({ ...nodeFileSystem, ...changes });

const otherOwner = '0a3c5e7f-0000-4000-8000-000000000002';

const systemError = (code: string): Error => Object.assign(new Error(`${code}: by the test`), { code });

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

contractOfFileStores('local disk', async (t) => open(temporaryFolder(t)));

test('blobs are readable by nobody else, and empty folders go with the last blob', async (t) => {
  const folder = join(temporaryFolder(t), 'new');
  const store = await open(folder);
  await write(store, nameOf(1), content(10));
  const modeOf = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;
  t.is(modeOf(), 0o700);
  t.is(modeOf(owner), 0o700);
  t.is(modeOf(owner, upload), 0o700);
  t.is(modeOf(nameOf(1)), 0o600);
  t.is(modeOf('incoming'), 0o700);
  await write(store, nameOf(2), content(10));
  await store.remove([nameOf(1)]);
  t.deepEqual(readdirSync(join(folder, owner)), [upload]);
  await store.remove([nameOf(2)]);
  t.deepEqual(readdirSync(folder), ['incoming']);
});

test('other files in the folder are neither listed nor removed', async (t) => {
  const folder = temporaryFolder(t);
  const store = await open(folder);
  await write(store, nameOf(1), content(10));
  mkdirSync(join(folder, 'lost+found'));
  writeFileSync(join(folder, owner, upload, '.DS_Store'), '');
  writeFileSync(join(folder, owner, 'notes.txt'), '');
  writeFileSync(join(folder, randomUUID()), '');
  t.deepEqual(await names(store), [nameOf(1)]);
  await store.remove([nameOf(1)]);
  t.true(files(folder).includes('notes.txt'));
});

/** As it is written by `write`. */
const blob = (number: number, bytes = 10, more: Parameters<typeof nameOf>[1] = {}) => ({
  name: nameOf(number, more),
  bytes,
});

function stepsOn(folder: string, steps: string[]): FileSystem {
  const short = (path: string) => path.replace(folder, '').replace(/incoming\/.*/, 'draft');
  return changed({
    async create(path) {
      const file = await nodeFileSystem.create(path);
      return {
        ...file,
        async sync() {
          steps.push(`sync ${short(path)}`);
          await file.sync();
        },
      };
    },
    async rename(from, to) {
      steps.push(`rename ${short(from)} ${short(to)}`);
      await nodeFileSystem.rename(from, to);
    },
    async syncFolder(path) {
      steps.push(`sync ${short(path)}`);
      await nodeFileSystem.syncFolder(path);
    },
  });
}

for (const isShared of [false, true]) {
  const when = isShared ? 'before its write is over, in a shared folder' : 'before it is persisted';

  test(`a blob that has its name is synced, and then every folder that leads to it, ${when}`, async (t) => {
    const folder = temporaryFolder(t);
    const steps: string[] = [];
    const store = await open(folder, { fs: stepsOn(folder, steps), isShared });
    steps.length = 0;
    for (const number of [1, 2]) {
      await write(store, nameOf(number), content(10));
      if (!isShared) await store.persist([blob(number)]);
      t.deepEqual(steps.splice(0), [
        `rename /draft /${nameOf(number)}`,
        'sync /draft',
        `sync /${owner}/${upload}`,
        `sync /${owner}`,
        'sync ',
      ]);
      if (isShared) await store.persist([blob(number)]);
      t.deepEqual(steps, []);
    }
  });
}

/** More file system calls than a write that must stop would need. */
async function whileOthersWork(store: FileStore): Promise<void> {
  for (let time = 0; time < 30; time += 1) await names(store);
}

/** Syncs of files wait for `go`. */
function slowlySynced() {
  const waiting: (() => void)[] = [];
  const fs = changed({
    async create(path) {
      const file = await nodeFileSystem.create(path);
      return {
        ...file,
        async sync() {
          await new Promise<void>((resolve) => waiting.push(resolve));
          await file.sync();
        },
      };
    },
  });
  const go = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { fs, waiting, go };
}

test('the next write of an upload, and what persists it, wait until the blob before is on the disk', async (t) => {
  const { fs, waiting, go } = slowlySynced();
  const store = await open(temporaryFolder(t), { fs });
  const over: string[] = [];
  await write(store, nameOf(1), content(10));
  const next = write(store, nameOf(2), content(10)).then(() => over.push('next'));
  await write(store, nameOf(1, { in: otherOwner }), content(10));
  await whileOthersWork(store);
  t.is(waiting.length, 2);
  t.deepEqual(over, []);
  go();
  await next;
  const persisted = store.persist([blob(1), blob(2)]).then(() => over.push('persisted'));
  await until(() => waiting.length === 1);
  await drainPromises();
  t.deepEqual(over, ['next']);
  go();
  await persisted;
});

test('a blob that another process has written is synced by the one that persists it, if it is whole', async (t) => {
  const folder = temporaryFolder(t);
  const before = await open(folder);
  for (const number of [1, 2]) await write(before, nameOf(number), content(10));
  await before.close();
  const steps: string[] = [];
  const fs = changed({
    async open(path) {
      const file = await nodeFileSystem.open(path);
      return {
        ...file,
        async sync() {
          steps.push(path.replace(folder, ''));
          await file.sync();
        },
      };
    },
    async syncFolder(path) {
      steps.push(path.replace(folder, ''));
      await nodeFileSystem.syncFolder(path);
    },
  });
  const store = await open(folder, { fs });
  steps.length = 0;
  await store.persist([blob(1), blob(2)]);
  const folders = [`/${owner}/${upload}`, `/${owner}`, ''];
  t.deepEqual(steps, [`/${nameOf(1)}`, `/${nameOf(2)}`, ...folders]);

  // A possible state after a power cut.
  truncateSync(join(folder, nameOf(1)), 9);
  await failsWith(t, 'missing', () => store.persist([blob(1), blob(2)]));
  rmSync(join(folder, nameOf(1)));
  await failsWith(t, 'missing', () => store.persist([blob(1), blob(2)]));
  await store.persist([blob(2)]);
});

test('in a shared folder a write whose blob could not be synced is refused, and leaves nothing', async (t) => {
  for (const [code, failure] of [
    ['EIO', 'unavailable'],
    ['EDQUOT', 'full'],
  ] as const) {
    const folder = temporaryFolder(t);
    let isOpen = false;
    const failing = () => Promise.reject(systemError(code));
    const broken = [
      changed({ create: async (path) => ({ ...(await nodeFileSystem.create(path)), sync: failing }) }),
      changed({ syncFolder: (path) => (isOpen ? failing() : nodeFileSystem.syncFolder(path)) }),
    ];
    for (const fs of broken) {
      isOpen = false;
      const store = await open(folder, { fs, isShared: true });
      isOpen = true;
      await failsWith(t, failure, () => write(store, nameOf(1), content(10)));
      await store.close();
      t.deepEqual(files(folder), []);
    }
  }
});

test('a blob that the system could not sync is missing', async (t) => {
  const folder = temporaryFolder(t);
  const failing = () => Promise.reject(systemError('EIO'));
  const fs = changed({ create: async (path) => ({ ...(await nodeFileSystem.create(path)), sync: failing }) });
  const store = await open(folder, { fs });
  await write(store, nameOf(1), content(10));
  await failsWith(t, 'missing', () => store.persist([blob(1)]));
  t.deepEqual(files(folder), []);
});

test('a blob that the system could not sync is missing, even if it could not be removed', async (t) => {
  const folder = temporaryFolder(t);
  const failing = () => Promise.reject(systemError('EIO'));
  const fs = changed({
    create: async (path) => ({ ...(await nodeFileSystem.create(path)), sync: failing }),
    unlink: failing,
  });
  const store = await open(folder, { fs });
  await write(store, nameOf(1), content(10));
  for (let time = 0; time < 2; time += 1) await failsWith(t, 'missing', () => store.persist([blob(1)]));
  t.deepEqual(await names(store), [nameOf(1)]);
});

test('each blob of one upload is waited for when several are written at once, and none that fails is taken for durable', async (t) => {
  const ends: { readonly succeed: () => void; readonly fail: () => void }[] = [];
  const named: (() => void)[] = [];
  const fs = changed({
    // Both get their names before either waits for a sync.
    async rename(from, to) {
      await nodeFileSystem.rename(from, to);
      await new Promise<void>((resolve) => {
        named.push(resolve);
        if (named.length === 2) for (const go of named) go();
      });
    },
    create: async (path) => ({
      ...(await nodeFileSystem.create(path)),
      sync: () =>
        new Promise<void>((resolve, reject) => {
          ends.push({ succeed: resolve, fail: () => reject(systemError('EIO')) });
        }),
    }),
  });
  const store = await open(temporaryFolder(t), { fs });
  await Promise.all([1, 2].map((number) => write(store, nameOf(number), content(10))));
  await until(() => ends.length === 2);
  const persisted = failsWith(t, 'missing', () => store.persist([blob(1), blob(2)]));
  ends[1]?.succeed();
  await whileOthersWork(store);
  ends[0]?.fail();
  await persisted;
});

test('a blob whose folder could not be synced stays, and is persisted once that works', async (t) => {
  const folder = temporaryFolder(t);
  let isBroken = false;
  const fs = changed({
    syncFolder: (path) => (isBroken ? Promise.reject(systemError('EIO')) : nodeFileSystem.syncFolder(path)),
  });
  const store = await open(folder, { fs });
  isBroken = true;
  await write(store, nameOf(1), content(10));
  await failsWith(t, 'unavailable', () => store.persist([blob(1)]));
  isBroken = false;
  await store.persist([blob(1)]);
  t.deepEqual(await names(store), [nameOf(1)]);
});

test('a disk that does not sync becomes unavailable to its waiting callers after a while, and nothing is lost', async (t) => {
  const clock = new FakeClock();
  const { fs, waiting, go } = slowlySynced();
  const folder = temporaryFolder(t);
  const store = await open(folder, { fs, clock });
  await write(store, nameOf(1), content(10));
  const failed = [
    failsWith(t, 'unavailable', () => store.persist([blob(1)])),
    failsWith(t, 'unavailable', () => write(store, nameOf(2), content(10))),
  ];
  await until(() => waiting.length === 1);
  // Both have begun to wait: the draft of the second has its name.
  await until(() => existsSync(join(folder, nameOf(2))));
  await drainPromises();
  await clock.advance(30_000);
  go();
  await Promise.all(failed);
  await store.persist([blob(1)]);
  t.deepEqual(await names(store), [nameOf(1)]);
});

test('a store that is closed has synced what it has acknowledged', async (t) => {
  const folder = temporaryFolder(t);
  const { fs, waiting, go } = slowlySynced();
  const store = await open(folder, { fs });
  await write(store, nameOf(1), content(10));
  let isClosed = false;
  const closed = store.close().then(() => {
    isClosed = true;
  });
  await drainPromises();
  t.false(isClosed);
  t.is(waiting.length, 1);
  go();
  await closed;
  await (await open(folder)).persist([blob(1)]);
});

test('a body is taken while its name is on its way, and no more of it than clients send in a chunk', async (t) => {
  const store = await open(temporaryFolder(t));
  const bytes = 20 * 1_048_576;
  let takenBytes = 0;
  const body = async function* () {
    for await (const piece of inPieces(content(bytes), 1_048_576)) {
      takenBytes += piece.byteLength;
      yield piece;
    }
  };
  let named = (_: string): void => undefined;
  const naming = new Promise<string>((resolve) => {
    named = resolve;
  });
  const writing = store.write(naming, body(), { owner, bytes, signal: unstopped });
  await until(() => takenBytes >= 8 * 1_048_576);
  await whileOthersWork(store);
  t.true(takenBytes < 11 * 1_048_576, `${takenBytes}`);
  named(nameOf(1));
  await writing;
  t.is(takenBytes, bytes);
});

test('a disk that takes a part of what it is given is given the rest', async (t) => {
  const fs = changed({
    async create(path) {
      const file = await nodeFileSystem.create(path);
      return { ...file, write: (bytes, position) => file.write(bytes.subarray(0, 1_000), position) };
    },
  });
  const store = await open(temporaryFolder(t), { fs });
  const whole = content(300_000);
  await write(store, nameOf(1), whole);
  t.true(whole.equals(await read(store, nameOf(1), 0, whole.length)));
});

/** Takes this many bytes, the last of them in a short write like a real disk, and then reports that it is full. */
function fullAfter(bytes: number, code: string): FileSystem {
  let left = bytes;
  return changed({
    async create(path) {
      const file = await nodeFileSystem.create(path);
      return {
        ...file,
        async write(piece, position) {
          if (left === 0) throw systemError(code);
          const written = await file.write(piece.subarray(0, left), position);
          left -= written;
          return written;
        },
      };
    },
  });
}

for (const code of ['ENOSPC', 'EDQUOT']) {
  test(`a disk that is full while it is written to (${code}) leaves nothing, and works again with room`, async (t) => {
    const folder = temporaryFolder(t);
    const store = await open(folder, { fs: fullAfter(700_000, code) });
    await failsWith(t, 'full', () => write(store, nameOf(1), content(1_000_000)));
    await store.close();
    t.deepEqual(files(folder), []);
    const again = await open(folder);
    await write(again, nameOf(1), content(1_000_000));
    t.deepEqual(await names(again), [nameOf(1)]);
  });
}

test('a blob is refused before its first byte where it would take the reserve, with those under way', async (t) => {
  let freeBytes = 1_000_000;
  const fs = changed({ freeBytesAt: async () => freeBytes });
  const store = await open(temporaryFolder(t), { fs, reserveBytes: 400_000 });
  let wasAsked = false;
  const body = async function* () {
    wasAsked = true;
    yield content(600_001);
  };
  await failsWith(t, 'full', () =>
    store.write(nameOf(1), body(), { owner, bytes: 600_001, signal: unstopped }),
  );
  t.false(wasAsked);
  await write(store, nameOf(1), content(600_000));

  const stop = new AbortController();
  const hanging = async function* () {
    yield content(100_000);
    await once(stop.signal, 'abort');
  };
  const first = store.write(nameOf(2), hanging(), { owner, bytes: 400_000, signal: stop.signal });
  await failsWith(t, 'full', () => write(store, nameOf(3), content(300_000)));
  stop.abort();
  await failsWith(t, 'aborted', () => first);
  await store.close();

  const again = await open(temporaryFolder(t), { fs, reserveBytes: 400_000 });
  await write(again, nameOf(3), content(300_000));
  t.is(await again.condition(), 'good');
  t.is(again.freeBytes, 1_000_000);
  freeBytes = 399_999;
  t.is(await again.condition(), 'full');
});

test('a body without a name keeps no more of the disk from others than its draft may take', async (t) => {
  const fs = changed({ freeBytesAt: async () => 100_000_000 });
  const store = await open(temporaryFolder(t), { fs });
  const stop = new AbortController();
  const hanging = async function* () {
    yield* inPieces(content(9 * 1_048_576), 1_048_576);
    await once(stop.signal, 'abort');
  };
  const begun = [1, 2].map((number) => {
    let named = (_: string): void => undefined;
    const naming = new Promise<string>((resolve) => {
      named = resolve;
    });
    const options = { owner, bytes: 60_000_000, signal: stop.signal };
    return { name: () => named(nameOf(number)), written: store.write(naming, hanging(), options) };
  });
  const [first, second] = begun;
  let isRefused = false;
  second?.written.catch(() => {
    isRefused = true;
  });
  first?.name();
  await whileOthersWork(store);
  t.false(isRefused);
  second?.name();
  await failsWith(t, 'full', () => second?.written ?? Promise.resolve());
  stop.abort();
  await failsWith(t, 'aborted', () => first?.written ?? Promise.resolve());
  await store.close();
});

for (const code of ['EROFS', 'EIO', 'EACCES', 'EMFILE']) {
  test(`a disk that fails with ${code} at any step is unavailable, and leaves nothing`, async (t) => {
    const failing = () => Promise.reject(systemError(code));
    const unwritable = async (path: string) => ({ ...(await nodeFileSystem.create(path)), write: failing });
    const broken: Record<string, FileSystem> = {
      free: changed({ freeBytesAt: failing }),
      create: changed({ create: failing }),
      write: changed({ create: unwritable }),
      rename: changed({ rename: failing }),
    };
    for (const [step, fs] of Object.entries(broken)) {
      const folder = temporaryFolder(t);
      const store = await open(folder, { fs });
      await failsWith(t, 'unavailable', () => write(store, nameOf(1), content(300_000)));
      await store.close();
      t.deepEqual(files(folder), [], step);
    }
    const store = await open(temporaryFolder(t), {
      fs: changed({ open: failing, unlink: failing, checkWritable: failing }),
    });
    await failsWith(t, 'unavailable', () => read(store, nameOf(1), 0, 1));
    await failsWith(t, 'unavailable', () => store.remove([nameOf(1)]));
    t.is(await store.condition(), 'away');
  });
}

test('a disk that does not answer is unavailable after a while, and what it did then is undone', async (t) => {
  const folder = temporaryFolder(t);
  const clock = new FakeClock();
  let answer: (() => void) | undefined;
  const fs = changed({
    async rename(from, to) {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await nodeFileSystem.rename(from, to);
    },
  });
  const store = await open(folder, { fs, clock });
  const failed = failsWith(t, 'unavailable', () => write(store, nameOf(1), content(10)));
  await until(() => answer !== undefined);
  await clock.advance(30_000);
  await failed;
  answer?.();
  await store.close();
  t.deepEqual(files(folder), []);
});

test('a disk that does not answer holds few threads, and callers are refused instead of piled up', async (t) => {
  const clock = new FakeClock();
  let hanging = 0;
  const fs = changed({
    open: () => {
      hanging += 1;
      return new Promise(() => undefined);
    },
  });
  const store = await open(temporaryFolder(t), { fs, clock });
  const reads = Array.from({ length: 1_100 }, (_, number) =>
    t.throwsAsync(() => read(store, nameOf(number), 0, 1), { message: /unavailable/ }),
  );
  await drainPromises();
  t.is(hanging, 3);
  await clock.advance(30_000);
  await Promise.all(reads);
  t.is(hanging, 3);
});

test('owners take turns, and one that reads too much at the same time is refused alone', async (t) => {
  const folder = temporaryFolder(t);
  const before = await open(folder);
  const other = nameOf(1, { of: otherOwner });
  await write(before, nameOf(1), content(10));
  await write(before, other, content(10));
  const held: (() => void)[] = [];
  const fs = changed({
    async open(path) {
      await new Promise<void>((resolve) => held.push(resolve));
      return nodeFileSystem.open(path);
    },
  });
  const store = await open(folder, { fs, clock: new FakeClock() });
  const flood = Array.from({ length: 1_100 }, () =>
    read(store, nameOf(1), 0, 1).then(
      () => 'read',
      () => 'refused',
    ),
  );
  await drainPromises();
  let isRead = false;
  const reading = read(store, other, 0, 10).then((whole) => {
    isRead = true;
    return whole;
  });
  const release = () => {
    for (const resolve of held.splice(0)) resolve();
  };
  for (let turns = 0; turns < 4 && !isRead; turns += 1) {
    const opened = held.length;
    release();
    await until(() => isRead || held.length >= opened);
  }
  t.true(isRead);
  t.deepEqual(await reading, content(10));
  const ends = setInterval(release, 1);
  const outcomes = await Promise.all(flood);
  clearInterval(ends);
  t.true(outcomes.includes('refused'));
  t.true(outcomes.filter((outcome) => outcome === 'read').length >= 1_000);
});

test('the remains of a broken write are cleared away also while too many calls wait', async (t) => {
  const folder = temporaryFolder(t);
  const held: (() => void)[] = [];
  const fs = changed({
    async open(path) {
      await new Promise<void>((resolve) => held.push(resolve));
      return nodeFileSystem.open(path);
    },
  });
  const store = await open(folder, { fs });
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  async function* body() {
    yield content(5);
    await left;
    throw new Error('the client has left');
  }
  const failed = failsWith(t, 'aborted', () =>
    store.write(nameOf(1), body(), { owner, bytes: 10, signal: unstopped }),
  );
  await until(() => files(folder).length === 1);
  const reads = Array.from({ length: 1_100 }, (_, number) =>
    read(store, nameOf(number, { of: randomUUID() }), 0, 1).catch(() => undefined),
  );
  await until(() => held.length === 3);
  leave?.();
  await drainPromises();
  const ends = setInterval(() => {
    for (const resolve of held.splice(0)) resolve();
  }, 1);
  await failed;
  await Promise.all(reads);
  clearInterval(ends);
  t.deepEqual(files(folder), []);
});

test('a name is given again where a removal has just taken the folder', async (t) => {
  const folder = temporaryFolder(t);
  let removals = 0;
  const fs = changed({
    async rename(from, to) {
      removals += 1;
      if (removals <= 3) rmSync(join(folder, owner), { recursive: true });
      await nodeFileSystem.rename(from, to);
    },
  });
  const store = await open(folder, { fs });
  await write(store, nameOf(1), content(10));
  t.deepEqual(await names(store), [nameOf(1)]);
});

test('many writes and removals in one folder lose nothing', async (t) => {
  const store = await open(temporaryFolder(t));
  for (let round = 0; round < 20; round += 1) {
    await write(store, nameOf(1), content(10));
    await Promise.all([store.remove([nameOf(1)]), write(store, nameOf(2), content(10))]);
    t.deepEqual(await names(store), [nameOf(2)]);
    await store.remove([nameOf(2)]);
  }
});

test('drafts of this node go at its start, those of others once they are old', async (t) => {
  const folder = temporaryFolder(t);
  await open(folder, { nodeId: 'other' });
  await open(folder);
  const drafts = ['node-main/mine', 'node-other/young', 'node-other/old'].map((path) =>
    join(folder, 'incoming', path),
  );
  for (const path of drafts) writeFileSync(path, 'half a blob');
  const [, , old = ''] = drafts;
  const yesterday = Date.now() / 1_000 - 90_000;
  utimesSync(old, yesterday, yesterday);
  await open(folder);
  t.deepEqual(files(folder), ['young']);
});

test('a process that is killed while it writes leaves blobs that are whole, and no other', async (t) => {
  const folder = temporaryFolder(t);
  for (let round = 0; round < 3; round += 1) {
    const child = spawn(process.execPath, [...runs('test/files/endless-writer.ts'), folder, `${round}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const written: string[] = [];
    while (written.length < 5 + round) written.push((await lines.next()).value);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = await open(folder);
    const listed = await store.list({ prefix: '', limit: 1_000 });
    for (const name of written)
      t.true(
        listed.some((blob) => blob.name === name),
        name,
      );
    t.true(listed.every(({ bytes }) => bytes === 1_000_003));
    t.is(files(folder).length, listed.length);
    await store.close();
  }
});

test('a reader does not notice that its blob is removed', async (t) => {
  const store = await open(temporaryFolder(t));
  const whole = content(2_000_000);
  await write(store, nameOf(1), whole);
  const pieces: Uint8Array[] = [];
  for await (const piece of store.read(nameOf(1), { start: 0, end: whole.length }, unstopped)) {
    if (pieces.length === 0) await store.remove([nameOf(1)]);
    pieces.push(Uint8Array.from(piece));
  }
  t.true(whole.equals(Buffer.concat(pieces)));
});

test('a store that is closed ends what goes on', async (t) => {
  const folder = temporaryFolder(t);
  const store = await open(folder);
  const stop = new AbortController();
  let isInFlight = false;
  const hanging = async function* () {
    yield* inPieces(content(300_000));
    isInFlight = true;
    await once(stop.signal, 'abort');
  };
  const failed = failsWith(t, 'unavailable', () =>
    store.write(nameOf(1), hanging(), { owner, bytes: 400_000, signal: stop.signal }),
  );
  await until(() => isInFlight);
  await store.close();
  await failed;
  t.deepEqual(files(folder), []);
  stop.abort();
});
