/** House rules that no linter knows. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { nativePackages } from '../gateway/http/native-binaries.ts';
import { circlesOf, loadedWith, readImports } from './kit/imports.ts';

const root = new URL('..', import.meta.url).pathname;

/** Where the real clock and the real random source become ports, and a library's setting is set. */
const portFiles = new Set(['runtime/clock.ts', 'runtime/random.ts', 'gateway/http/uws.ts', 'cli/main.ts']);

async function sources(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

for (const folder of ['runtime', 'actors', 'gateway', 'operations', 'cli']) {
  test(`no file of ${folder} takes time, chance or settings from anywhere but its ports`, async (t) => {
    const files = (await sources(folder)).filter((file) => !portFiles.has(file));
    t.true(files.length > 5);
    for (const file of files) {
      const text = await readFile(join(root, file), 'utf8');
      t.notRegex(text, /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.env\b/, file);
    }
  });
}

test('nothing that runs at operators imports what tests share', async (t) => {
  const forTests = /^(test|tools|benchmarks|load-tests)\/|\.test\.ts$/;
  const importing = [...(await readImports())]
    .filter(([file, list]) => !forTests.test(file) && list.some(({ of }) => of.startsWith('test/')))
    .map(([file]) => file);
  t.deepEqual(importing, []);
});

test('no files import each other in a circle, not even for types', async (t) => {
  const imports = await readImports();
  t.true(imports.size > 400);
  t.deepEqual(circlesOf(imports), []);
});

test('a circle is found, whatever leads to it and from it', (t) => {
  const imports = (of: Record<string, readonly string[]>) =>
    new Map(
      Object.entries(of).map(([file, list]) => [file, list.map((each) => ({ of: each, isLoaded: false }))]),
    );
  t.deepEqual(circlesOf(imports({ a: ['b'], b: ['c'], c: ['node:fs'] })), []);
  t.deepEqual(circlesOf(imports({ a: ['b'], b: ['c'], c: ['d', 'e'], d: ['b'], e: [] })), ['b', 'c', 'd']);
});

test('the configuration is read without loading a package, whose weight every command line would bear', async (t) => {
  const loaded = loadedWith('process/config/config.ts', await readImports());
  t.true(
    ['actors/settings.ts', 'gateway/settings.ts', 'process/settings.ts'].every((file) => loaded.has(file)),
  );
  const packages = [...loaded].filter((of) => !of.endsWith('.ts') && !of.startsWith('node:'));
  t.deepEqual(packages, []);
});

test('the native HTTP server comes by the file that checks it, and not before the start', async (t) => {
  const imports = await readImports();
  const packages = new Set(nativePackages.map(({ name }) => name));
  const naming = [...imports].filter(([, list]) => list.some(({ of }) => packages.has(of)));
  t.deepEqual(
    naming.map(([file, list]) => [file, list.some(({ of, isLoaded }) => packages.has(of) && isLoaded)]),
    [
      ['gateway/http/native-library.ts', false],
      ['gateway/http/uws.ts', false],
    ],
    'both of them name it for its types alone',
  );
  t.true(loadedWith('process/server.ts', imports).has('gateway/http/uws.ts'));
  t.false(loadedWith('main.ts', imports).has('gateway/http/uws.ts'));
});

/**
 * The features that the account needs an answer from; everything else hears of it through hooks
 * (`actors/user/hooks.ts`).
 */
const askedByTheAccount =
  /^actors\/user\/(?:account|sessions|audit|settings)\/|^actors\/user\/factors\/restore\.ts$/;

test('the account imports no feature but those it needs an answer from', async (t) => {
  const raising = /^actors\/user\/(?:account\/.+|purge|mails|hooks)\.ts$/;
  const imported = [...(await readImports())]
    .filter(([file]) => raising.test(file))
    .flatMap(([file, list]) => list.map(({ of }) => [file, of] as const));
  t.true(imported.length > 50);
  const features = imported.filter(
    ([, of]) => /^actors\/user\/[^/]+\//.test(of) && !askedByTheAccount.test(of),
  );
  t.deepEqual(features, []);
});

test('a part is known to its kind alone', async (t) => {
  const knowing = [...(await readImports())].filter(([, list]) =>
    list.some(({ of }) => /^actors\/[^/]+\/[^/]+\/part\.ts$/.test(of)),
  );
  const sourcesOnly = knowing.map(([file]) => file).filter((file) => !file.startsWith('test/'));
  t.deepEqual(sourcesOnly.toSorted(), ['actors/user/user.ts', 'actors/vault/vault.ts']);
});

const outboundPort = 'actors/outbound/node-http.ts';
/** It runs in browsers, and asks the server. */
const inBrowsers = /^gateway\/pages\/\w+\/browser\//;
/** It is a client of the server that it has started itself. */
const clientOfScratch = 'process/backup/scratch-server.ts';
/** A tool of operators, never loaded by the server: it asks the server's own address, and looks at its certificate. */
const ofDoctor = 'process/doctor/public-url.ts';

test('no file but one asks others over HTTP', async (t) => {
  const folders = ['runtime', 'actors', 'gateway', 'operations', 'process'];
  const files = (await Promise.all(folders.map(sources))).flat();
  t.true(files.includes(outboundPort));
  for (const file of files) {
    if ([outboundPort, clientOfScratch, ofDoctor].includes(file) || inBrowsers.test(file)) continue;
    const text = await readFile(join(root, file), 'utf8');
    t.notRegex(text, /(?<![.#\w])fetch\(|\{[^}]*\brequest\b[^}]*\} from 'node:https?'|from 'undici'/, file);
  }
});

test('the tests that are begun first are there', async (t) => {
  const { slowest } = (await import(new URL('slowest.js', import.meta.url).href)) as {
    slowest: readonly string[];
  };
  t.true(slowest.length > 0);
  for (const file of slowest) t.true(existsSync(join(root, file)), file);
  t.is(new Set(slowest).size, slowest.length);
});
