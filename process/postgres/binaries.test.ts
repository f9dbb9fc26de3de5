import { mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { linkLibraries } from './binaries.ts';

test('libraries are linked as an install script would have, any number of times', async (t) => {
  const root = temporaryFolder(t);
  const native = join(root, 'native');
  mkdirSync(join(native, 'lib'), { recursive: true });
  writeFileSync(join(native, 'lib', 'libx.so.1.2'), '');
  writeFileSync(
    join(native, 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }]),
  );
  await linkLibraries(native);
  await linkLibraries(native);
  t.is(readlinkSync(join(native, 'lib', 'libx.so.1')), 'libx.so.1.2');
});

test('a package without a list of links needs none', async (t) => {
  const root = temporaryFolder(t);
  await t.notThrowsAsync(linkLibraries(join(root, 'native')));
});
