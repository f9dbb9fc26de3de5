import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { binaries, checkNativeHttp, installedBinaries, type Runtime, whatThereIs } from './native-http.ts';
import { exitCodes, StartError } from './start-error.ts';

const runtimeOf = (name: string): Runtime => {
  const [, platform = '', arch = '', modules = ''] = /^uws_(\w+)_(\w+)_(\d+)\.node$/.exec(name) ?? [];
  return { platform, arch, version: 'v20.19.0', versions: { modules } };
};
const here: Runtime = process;
const nameHere = `uws_${here.platform}_${here.arch}_${here.versions.modules}.node`;

async function refusedOf(t: ExecutionContext, checking: Promise<void>): Promise<string> {
  const error = await t.throwsAsync(checking, { instanceOf: StartError });
  t.is(error.exitCode, exitCodes.config);
  return error.message;
}

test('every program in the package is recorded, and matches its record', async (t) => {
  const installed = readdirSync(installedBinaries()).filter((name) => name.endsWith('.node'));
  t.deepEqual(installed.toSorted(), Object.keys(binaries).toSorted());
  for (const name of installed) await t.notThrowsAsync(checkNativeHttp(runtimeOf(name)), name);
});

test('a changed program is refused, and so is a missing one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'native-http-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const url = pathToFileURL(`${folder}/`);
  t.regex(await refusedOf(t, checkNativeHttp(here, url)), /is not installed\. Run `npm ci`/);
  const bytes = readFileSync(new URL(nameHere, installedBinaries()));
  writeFileSync(join(folder, nameHere), bytes);
  await t.notThrowsAsync(checkNativeHttp(here, url));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(folder, nameHere), bytes);
  t.regex(await refusedOf(t, checkNativeHttp(here, url)), /is not the one .* and was not loaded/);
});

test('a Node without one is told which versions have one', async (t) => {
  const newer = { ...here, version: 'v26.1.0', versions: { modules: '147' } };
  const message = await refusedOf(t, checkNativeHttp(newer));
  t.true(
    message.startsWith(`There is no native HTTP server for Node.js 26.1.0 on ${here.platform} ${here.arch}.`),
  );
  t.true(message.endsWith(whatThereIs()));
  t.regex(whatThereIs(), /^This release has one for Node\.js 20 and 22 on .*linux x64.*\.$/);
});
