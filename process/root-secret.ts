/**
 * The root secret: from its setting, or else generated once into the data directory. Everything encrypted or signed
 * depends on it. So the database remembers its fingerprint, and the server refuses another key before it can do harm.
 */
import { createKeyring, type Keyring, rootSecretBytes } from '../runtime/keyring.ts';
import type { Random } from '../runtime/random.ts';
import type { DataDirectory } from './data-directory.ts';
import { StartError } from './start-error.ts';

export interface FixedSettings {
  fixedSetting(name: string, value: string): Promise<string>;
}

/** In the data directory. */
export const rootSecretFile = 'secret-key';
const wellFormed = new RegExp(`^[0-9a-fA-F]{${rootSecretBytes * 2}}$`);

/** Undefined if the text is no root secret. */
export const parseRootSecret = (text: string): Buffer | undefined =>
  wellFormed.test(text) ? Buffer.from(text, 'hex') : undefined;

/** `secretKey` is in hexadecimal characters, as its setting has checked. @throws StartError */
export async function openKeyring(
  secretKey: string | undefined,
  directory: Pick<DataDirectory, 'keep'>,
  random: Random,
): Promise<Keyring> {
  const text = secretKey ?? (await storedSecret(directory, random));
  return createKeyring(Buffer.from(text, 'hex'));
}

async function storedSecret(directory: Pick<DataDirectory, 'keep'>, random: Random): Promise<string> {
  const text = await directory.keep(rootSecretFile, () => random.bytes(rootSecretBytes).toString('hex'));
  if (wellFormed.test(text)) return text;
  throw StartError.config(
    `The file ${rootSecretFile} in the data directory must contain ${rootSecretBytes * 2} hexadecimal characters (${rootSecretBytes} random bytes) and does not.`,
  );
}

/** Derived like any key, so it reveals nothing about the root secret or other keys. */
export const keyringFingerprint = (keyring: Keyring): string => keyring.derive('fingerprint').toString('hex');

/** Refuses a keyring other than the first one of this database. */
export async function checkFingerprint(keyring: Keyring, settings: FixedSettings): Promise<void> {
  const fingerprint = keyringFingerprint(keyring);
  const stored = await settings.fixedSetting('secret-key-fingerprint', fingerprint);
  if (stored === fingerprint) return;
  throw StartError.config(
    'The secret key is not the one this database was made with. Start with the former SECRET_KEY (or the former file secret-key in the data directory), or with another database.',
  );
}
