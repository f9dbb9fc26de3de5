import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { nativePackages } from './native-binaries.ts';
import {
  installedFolder,
  type Loading,
  loadNativeLibrary,
  NativeHttpError,
  nativePath,
  type Runtime,
  whatThereIs,
} from './native-library.ts';

const here: Runtime = process;
const nameHere = `uws_${here.platform}_${here.arch}_${here.versions.modules}.node`;
const debian13 = { platform: 'linux', arch: 'x64', version: 'v24.11.0', versions: { modules: '137' } };

/** Records which file is opened. */
const onto = (changed: Partial<Loading> = {}): Loading => ({
  runtime: here,
  folderOf: installedFolder,
  open: (path) => path,
  glibcVersion: () => '2.41',
  ...changed,
});

test('the file that the image keeps is the one that is loaded', (t) => {
  t.is(nativePath(onto()), openedBy() as string);
});

const openedBy = (changed: Partial<Loading> = {}): unknown => loadNativeLibrary(onto(changed));

function refusedBy(t: ExecutionContext, changed: Partial<Loading>): string {
  return t.throws(() => openedBy(changed), { instanceOf: NativeHttpError }).message;
}

const cannotOpen = (message: string) => () => {
  throw new Error(message);
};

for (const of of nativePackages) {
  test(`every program of ${of.name} that is recorded is installed, and matches its record`, (t) => {
    const names = Object.keys(of.sha256);
    t.true(names.length > 0);
    for (const name of names) {
      const [, platform = '', arch = '', modules = ''] = /^uws_(\w+)_(\w+)_(\d+)\.node$/.exec(name) ?? [];
      t.true(modules in of.nodeVersions);
      t.regex(
        String(openedBy({ runtime: { platform, arch, version: 'v22.12.0', versions: { modules } } })),
        new RegExp(`${of.name}/.*${name}$`),
      );
    }
  });
}

test('each version of Node that this release runs on has one for each kind of Linux that most servers have', (t) => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const supported = [...engines.node.matchAll(/\^(\d+)\./g)].map(([, major]) => Number(major));
  const modulesOf = new Map(
    nativePackages.flatMap(({ nodeVersions }) =>
      Object.entries(nodeVersions).map(([modules, version]) => [version, modules] as const),
    ),
  );
  t.deepEqual([...modulesOf.keys()].toSorted(), supported);
  for (const modules of modulesOf.values())
    for (const arch of ['x64', 'arm64'])
      t.notThrows(() =>
        openedBy({ runtime: { platform: 'linux', arch, version: 'v22.12.0', versions: { modules } } }),
      );
});

test('a changed program is refused unopened, and so is a missing one', (t) => {
  const folder = temporaryFolder(t);
  const folderOf = () => pathToFileURL(`${folder}/`);
  t.regex(refusedBy(t, { folderOf }), /is not installed\. Run `npm ci`/);
  const bytes = readFileSync(String(openedBy()));
  writeFileSync(join(folder, nameHere), bytes);
  t.is(openedBy({ folderOf }), join(folder, nameHere));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(folder, nameHere), bytes);
  const open = () => t.fail('it was opened');
  t.regex(refusedBy(t, { folderOf, open }), /is not the one .* and was not loaded/);
});

test('where the package is missing altogether it is said how to get it', (t) => {
  const folderOf = cannotOpen('Cannot find package');
  t.is(refusedBy(t, { folderOf }), `The native HTTP server ${nameHere} is not installed. Run \`npm ci\`.`);
});

test('a Node without one is told which versions have one', (t) => {
  const newer = { ...here, version: 'v26.1.0', versions: { modules: '147' } };
  t.is(
    refusedBy(t, { runtime: newer }),
    `There is no native HTTP server for Node.js 26.1.0 on ${here.platform} ${here.arch}. ${whatThereIs()}`,
  );
  t.regex(whatThereIs(), /^This release has one for Node\.js 20, 22 and 24 on .*linux x64.*\.$/);
});

test('a processor without one is told which have one', (t) => {
  t.regex(
    refusedBy(t, { runtime: { ...debian13, arch: 'riscv64' } }),
    /^There is no native HTTP server for Node\.js 24\.11\.0 on linux riscv64\. This release has one for/,
  );
});

test('a system whose glibc is too old is told which one is needed, and what does without', (t) => {
  const open = cannotOpen("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by …)");
  t.is(
    refusedBy(t, { runtime: debian13, open, glibcVersion: () => '2.36' }),
    'The native HTTP server uws_linux_x64_137.node cannot be loaded here: for Node.js 24.11.0 it needs glibc 2.38 or later, as Debian 13 and Ubuntu 24.04 have (Node.js 20 and 22 do with an older one); this system has 2.36.',
  );
});

test('a system without glibc is told so', (t) => {
  const open = cannotOpen('Error loading shared library ld-linux-x86-64.so.2: No such file or directory');
  t.is(
    refusedBy(t, { runtime: debian13, open, glibcVersion: () => undefined }),
    'The native HTTP server uws_linux_x64_137.node cannot be loaded here: it needs a Linux with glibc, as Debian and Ubuntu are, and this one has another C library (Alpine has musl).',
  );
});

test('any other failure is told in the words of the system, in one line', (t) => {
  const open = cannotOpen('file too short\nRequire stack:\n- somewhere');
  const said = refusedBy(t, { runtime: debian13, open });
  t.is(said, 'The native HTTP server uws_linux_x64_137.node cannot be loaded here: file too short.');
});
