/**
 * Counts the source files that one save passes, in the built server, as V8 counts them. A file counts if a function of it runs
 * between `POST /v1/items` with one item and the reply. Timers of the server may run meanwhile, so only files of every round count.
 *
 * npm run build && node --import=tsx benchmarks/files-of-a-save.ts [--rounds 8] [--build <revision>] [--list]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { newItem, register, sync } from './support/api-client.ts';
import { buildOf } from './support/build.ts';
import { startBuiltServer } from './support/server.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    build: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const settleMs = 300;

const folder = mkdtempSync(join(tmpdir(), 'scriptorium-coverage-'));
const file = join(folder, 'ran.json');
const hook = fileURLToPath(new URL('./support/coverage.js', import.meta.url));
const build = buildOf(values.build ?? '.');
const { folder: built } = build;
const nodeArguments = [`--import=${hook}`];
const server = await startBuiltServer({ COVERAGE_FILE: file }, undefined, { ...build, nodeArguments });

/** The files of the server that have run since the last call. */
async function ranSince(): Promise<ReadonlySet<string>> {
  rmSync(file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(2);
  const urls: readonly string[] = JSON.parse(readFileSync(file, 'utf8'));
  const dist = join(built, 'dist');
  const paths = urls
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(dist, fileURLToPath(url)));
  return new Set(paths.filter((path) => !path.startsWith('..')));
}

try {
  const account = await register(server.url);
  await sync(server.url, account, { items: [newItem()] });
  const rounds: ReadonlySet<string>[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    await sleep(settleMs);
    await ranSince();
    const { saved_items: saved } = await sync(server.url, account, { items: [newItem()] });
    rounds.push(await ranSince());
    if (saved.length !== 1) throw new Error('the item was not saved');
  }
  const [first = new Set<string>(), ...others] = rounds;
  const files = [...first].filter((path) => others.every((round) => round.has(path))).toSorted();
  const lines = files.reduce(
    (sum, path) =>
      sum + readFileSync(join(built, path.replace(/\.js$/, '.ts')), 'utf8').split('\n').length - 1,
    0,
  );
  if (values.list) console.log(files.join('\n'));
  console.log(`${files.length} files of ${lines} lines in all`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
