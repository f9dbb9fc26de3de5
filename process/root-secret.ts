/**
 * The root secret (design section 8): from SECRET_KEY, else from the file SECRET_KEY_FILE names, else generated
 * once into the data directory. Everything encrypted or signed hangs on it, so the database remembers its
 * fingerprint and another key is refused before it can do harm.
 */
import { readFile } from 'node:fs/promises';
import { createKeyring, type Keyring, rootSecretBytes } from '../runtime/keyring.ts';
import type { Random } from '../runtime/random.ts';
import type { DataDirectory } from './data-directory.ts';
import { exitCodes, StartError } from './start-error.ts';

export interface RootSecretSource {
  /** 64 hexadecimal characters, checked by the settings' schema. */
  readonly secretKey?: string | undefined;
  readonly secretKeyFile?: string | undefined;
}

export interface FixedSettings {
  fixedSetting(name: string, value: string): Promise<string>;
}

const keptName = 'secret-key';
const wellFormed = new RegExp(`^[0-9a-fA-F]{${rootSecretBytes * 2}}$`);

export async function openKeyring(
  source: RootSecretSource,
  directory: Pick<DataDirectory, 'path' | 'keep'>,
  random: Random,
): Promise<Keyring> {
  const { text, origin } = await findSecret(source, directory, random);
  if (!wellFormed.test(text)) {
    throw new StartError(
      `${origin} has to hold ${rootSecretBytes * 2} hexadecimal characters (${rootSecretBytes} random bytes) and does not.`,
      exitCodes.config,
    );
  }
  return createKeyring(Buffer.from(text, 'hex'));
}

async function findSecret(
  source: RootSecretSource,
  directory: Pick<DataDirectory, 'path' | 'keep'>,
  random: Random,
) {
  if (source.secretKey !== undefined) return { text: source.secretKey, origin: 'SECRET_KEY' };
  if (source.secretKeyFile !== undefined) return readSecretFile(source.secretKeyFile);
  const text = await directory.keep(keptName, () => random.bytes(rootSecretBytes).toString('hex'));
  return { text, origin: `The file ${keptName} in the data directory` };
}

async function readSecretFile(path: string) {
  const origin = `The file ${path} that SECRET_KEY_FILE names`;
  try {
    return { text: (await readFile(path, 'utf8')).trim(), origin };
  } catch (error) {
    throw new StartError(`${origin} cannot be read: ${(error as Error).message}.`, exitCodes.config, {
      cause: error,
    });
  }
}

/** Refuses a keyring other than the one this database was first used with. */
export async function checkFingerprint(keyring: Keyring, settings: FixedSettings): Promise<void> {
  // Derived like any key, so that it tells nothing of the root secret or of another key.
  const fingerprint = keyring.derive('fingerprint').toString('hex');
  const kept = await settings.fixedSetting('secret-key-fingerprint', fingerprint);
  if (kept === fingerprint) return;
  throw new StartError(
    'The secret key is not the one this database was made with. Start with the former SECRET_KEY (or the former file secret-key in the data directory), or with another database.',
    exitCodes.config,
  );
}
