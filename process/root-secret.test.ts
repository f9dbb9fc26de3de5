import test from 'ava';
import { createKeyring } from '../runtime/keyring.ts';
import { systemRandom } from '../runtime/random.ts';
import type { DataDirectory } from './data-directory.ts';
import { checkFingerprint, openKeyring } from './root-secret.ts';
import { StartError, serverExitCodes } from './start-error.ts';

function memoryDirectory(): Pick<DataDirectory, 'keep'> & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>();
  return {
    stored,
    keep: async (name, make) => {
      const text = stored.get(name) ?? make();
      stored.set(name, text);
      return text;
    },
  };
}

function memorySettings() {
  const settings = new Map<string, string>();
  return {
    fixedSetting: async (name: string, value: string) => {
      if (!settings.has(name)) settings.set(name, value);
      return settings.get(name) ?? value;
    },
  };
}

const hex = '0123456789abcdef'.repeat(4);
const otherHex = 'fedcba9876543210'.repeat(4);
const derived = (key: string) => createKeyring(Buffer.from(key, 'hex')).derive('x');

test('the setting comes before the kept secret', async (t) => {
  const directory = memoryDirectory();
  t.deepEqual((await openKeyring(hex, directory, systemRandom)).derive('x'), derived(hex));
  t.is(directory.stored.size, 0);
});

test('without a setting a secret is generated once', async (t) => {
  const directory = memoryDirectory();
  const first = await openKeyring(undefined, directory, systemRandom);
  const second = await openKeyring(undefined, directory, systemRandom);
  t.deepEqual(first.derive('x'), second.derive('x'));
  t.notDeepEqual(
    (await openKeyring(undefined, memoryDirectory(), systemRandom)).derive('x'),
    first.derive('x'),
  );
});

test('a kept secret of the wrong form is refused without being shown', async (t) => {
  const directory = memoryDirectory();
  directory.stored.set('secret-key', 'deadbeef');
  const short = await t.throwsAsync(openKeyring(undefined, directory, systemRandom), {
    instanceOf: StartError,
    message: /secret-key .* 64 hexadecimal/,
  });
  t.is(short.exitCode, serverExitCodes.config);
  t.notRegex(short.message, /deadbeef/);
});

test('a database accepts the key it was made with and refuses another', async (t) => {
  const settings = memorySettings();
  const keyring = createKeyring(Buffer.from(hex, 'hex'));
  await checkFingerprint(keyring, settings);
  await t.notThrowsAsync(checkFingerprint(keyring, settings));
  const other = createKeyring(Buffer.from(otherHex, 'hex'));
  const error = await t.throwsAsync(checkFingerprint(other, settings), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.config);
  t.regex(error.message, /not the one this database was made with/);
});
