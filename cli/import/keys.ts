/** The key of the other server, from a file of its own or from the file with its settings. */
import { dirname, resolve } from 'node:path';
import { CommandFailure, exitCodes } from '../failure.ts';
import { readInputFile } from '../input-file.ts';
import { keyFrom, userKeyFrom } from './envelope.ts';
import type { Tables } from './source/tables.ts';

export interface KeyFiles {
  readonly sourceKeyFile?: string | undefined;
  readonly envFile?: string | undefined;
}

const names = ['ENCRYPTION_SERVER_KEY', 'AUTH_SERVER_ENCRYPTION_SERVER_KEY', 'AUTH_ENCRYPTION_SERVER_KEY'];

/** @throws CommandFailure for a file without a key */
export function sourceKey({ sourceKeyFile, envFile }: KeyFiles): Buffer | undefined {
  if (sourceKeyFile !== undefined) return keyIn(sourceKeyFile, '--source-key-file');
  if (envFile === undefined) return undefined;
  const settings = settingsIn(readInputFile(envFile, '--env-file').toString());
  for (const name of names) {
    const value = settings.get(name);
    const file = settings.get(`${name}_FILE`);
    if (value !== undefined) return checked(value, `${envFile}: ${name}`);
    if (file !== undefined) return keyIn(resolve(dirname(envFile), file), `${name}_FILE`);
  }
  throw new CommandFailure(exitCodes.usage, `${envFile} has no ENCRYPTION_SERVER_KEY.`);
}

const keyIn = (path: string, option: string): Buffer => checked(readInputFile(path, option).toString(), path);

function checked(text: string, where: string): Buffer {
  const key = keyFrom(text);
  if (key === undefined)
    throw new CommandFailure(exitCodes.usage, `${where} does not hold 64 hexadecimal digits.`);
  return key;
}

function settingsIn(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, value] = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined
      ? []
      : [[name, value.replace(/^(["'])(.*)\1$/, '$2')] as const];
  });
  return new Map(lines);
}

/** Runs before anything is written. @throws CommandFailure */
export async function checkKey(
  tables: Pick<Tables, 'sampleUserKey' | 'hasEncryptedMfaSecrets'>,
  key: Buffer | undefined,
  withoutKey: 'stop' | 'lock' | 'drop',
): Promise<void> {
  const any = await tables.sampleUserKey();
  if (key !== undefined && any !== undefined && userKeyFrom(any, key) === undefined) {
    throw new CommandFailure(
      exitCodes.refused,
      'The key does not open what the other server has encrypted. It is its ENCRYPTION_SERVER_KEY.',
    );
  }
  if (key !== undefined || withoutKey !== 'stop' || !(await tables.hasEncryptedMfaSecrets())) return;
  throw new CommandFailure(
    exitCodes.refused,
    'Some accounts have a second factor, which only the key of the other server opens: give it by --source-key-file. ' +
      'Without it, --without-key lock keeps those accounts closed until you open each by `import unlock`, and --without-key drop imports them without their factor.',
  );
}
