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

test('every program that the package brings is recorded, and is as it was recorded', async (t) => {
  const installed = readdirSync(installedBinaries()).filter((name) => name.endsWith('.node'));
  t.deepEqual(installed.toSorted(), Object.keys(binaries).toSorted());
  for (const name of installed) await t.notThrowsAsync(checkNativeHttp(runtimeOf(name)), name);
});

test('one that was changed is refused, and so is one that is not there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'native-http-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const url = pathToFileURL(`${folder}/`);
  t.regex(await refusedOf(t, checkNativeHttp(here, url)), /is not installed\. Run `npm ci`/);
  const bytes = readFileSync(new URL(nameHere, installedBinaries()));
  writeFileSync(join(folder, nameHere), bytes);
  await t.notThrowsAsync(checkNativeHttp(here, url));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(folder, nameHere), bytes);
  t.regex(await refusedOf(t, checkNativeHttp(here, url)), /is not the one .* and is not loaded/);
});

test('a Node that has none is told which have one', async (t) => {
  const newer = { ...here, version: 'v26.1.0', versions: { modules: '147' } };
  const message = await refusedOf(t, checkNativeHttp(newer));
  t.true(
    message.startsWith(`There is no native HTTP server for Node.js 26.1.0 on ${here.platform} ${here.arch}.`),
  );
  t.true(message.endsWith(whatThereIs()));
  t.regex(whatThereIs(), /^Those of this release are for Node\.js 20 and 22 on .*linux x64.*\.$/);
});
