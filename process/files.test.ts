import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { systemRandom } from '../runtime/random.ts';
import { createReadiness } from '../runtime/readiness.ts';
import { content, nameOf, names, owner, read, write } from '../test/files/blobs.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { configurationFrom } from './config/config.ts';
import { createFilesCheck, provideFileStore } from './files.ts';
import { Lifetime } from './lifetime.ts';
import { StartError, serverExitCodes } from './start-error.ts';

const logger = pino({ level: 'silent' });

function open(path: string, environment: Record<string, string> = {}) {
  const clock = new FakeClock();
  const lifetime = new Lifetime({ logger, clock, closeMaxMs: 60_000, exit: () => {} });
  const registry = new Registry();
  const options = {
    ...configurationFrom(environment),
    version: '0',
    clock,
    random: systemRandom,
    logger,
    lifetime,
  };
  return { clock, lifetime, registry, opening: provideFileStore(options, { path }, registry) };
}

test('files are in the data directory, or in the folder of the settings', async (t) => {
  const path = temporaryFolder(t);
  const { store } = await open(path).opening;
  await write(store, nameOf(1), content(10));
  t.true(existsSync(join(path, 'files', nameOf(1))));

  const folder = temporaryFolder(t);
  const other = await open(path, { FILES_FOLDER: folder }).opening;
  t.deepEqual(await names(other.store), []);
  await write(other.store, nameOf(2), content(10));
  t.true(existsSync(join(folder, nameOf(2))));
});

test('a folder that cannot be made ends the start with a sentence', async (t) => {
  const path = temporaryFolder(t);
  writeFileSync(join(path, 'files'), 'not a folder');
  const error = await t.throwsAsync(open(path).opening, { instanceOf: StartError });
  t.is(error?.exitCode, serverExitCodes.config);
  t.regex(error?.message ?? '', /^The folder of files .*\/files cannot be used: .*FILES_FOLDER/);
});

test('the reserve is that of the settings', async (t) => {
  const { store, check } = await open(temporaryFolder(t), { FILES_FREE_SPACE_RESERVE: '1048576' }).opening;
  // No machine that runs tests has a tebibyte of free disk; on one that has, this test fails.
  await t.throwsAsync(() => write(store, nameOf(1), content(10)), { message: /full/ });
  t.is(await check(), 'degraded');
});

test('calls are counted by what became of them', async (t) => {
  const { opening, registry } = open(temporaryFolder(t));
  const { store } = await opening;
  await write(store, nameOf(1), content(10));
  await t.throwsAsync(() => write(store, nameOf(2), content(10), AbortSignal.abort()));
  await read(store, nameOf(1), 2, 5);
  await t.throwsAsync(() => read(store, nameOf(2), 0, 1));
  await t.throwsAsync(() => read(store, '../escaped', 0, 1));
  await names(store);
  await store.remove([nameOf(1)]);
  const text = await registry.metrics();
  for (const [labels, count] of [
    ['call="write",outcome="ok"', 1],
    ['call="write",outcome="aborted"', 1],
    ['call="read",outcome="ok"', 1],
    ['call="read",outcome="missing"', 1],
    ['call="read",outcome="defect"', 1],
    ['call="list",outcome="ok"', 1],
    ['call="remove",outcome="ok"', 1],
  ] as const) {
    t.true(text.includes(`scriptorium_file_store_calls_total{${labels}} ${count}\n`), labels);
  }
  t.regex(text, /^scriptorium_file_store_bytes_total\{call="write"\} 10$/m);
  t.regex(text, /^scriptorium_file_store_bytes_total\{call="read"\} 3$/m);
  t.regex(text, /^scriptorium_file_store_free_bytes \d+$/m);
});

test('the store ends with the process', async (t) => {
  const { opening, lifetime } = open(temporaryFolder(t));
  const { store } = await opening;
  const stop = new AbortController();
  const hanging = async function* () {
    yield content(10);
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  };
  const writing = t.throwsAsync(
    () => store.write(nameOf(1), hanging(), { owner, bytes: 20, signal: stop.signal }),
    {
      message: /unavailable/,
    },
  );
  await lifetime.end(0);
  await writing;
  stop.abort();
});

for (const [what, condition, files] of [
  ['takes files', async () => 'good' as const, 'ok'],
  ['has no room but the reserve', async () => 'full' as const, 'degraded'],
  ['takes none', async () => 'away' as const, 'failed'],
  ['does not answer', () => new Promise<never>(() => undefined), 'failed'],
] as const) {
  test(`where the store ${what}, the check is ${files}, and so is readiness`, async (t) => {
    const clock = new FakeClock();
    const readiness = createReadiness({ files: createFilesCheck({ condition }, clock) }, clock);
    const report = readiness.report();
    await clock.advance(1_500);
    t.deepEqual(await report, { ready: files !== 'failed', checks: { files, serving: 'ok' } });
  });
}

test('the store is asked twice a minute, however often readiness is', async (t) => {
  const clock = new FakeClock();
  let calls = 0;
  const condition = async () => {
    calls += 1;
    return 'good' as const;
  };
  const check = createFilesCheck({ condition }, clock);
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await check();
    await clock.advance(1_000);
  }
  t.is(calls, 2);
});
