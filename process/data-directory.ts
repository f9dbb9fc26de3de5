import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from './durable-file.ts';
import { LockedByAnotherMachineError, lockDirectory } from './lock.ts';
import { StartError } from './start-error.ts';

export interface DataDirectory {
  readonly path: string;
  /**
   * The text under this name, made and written once if absent. The file has mode 0600; it appears whole or not at
   * all.
   */
  keep(name: string, make: () => string): Promise<string>;
  /** Stores this text under this name, in place of the old one. The file has mode 0600. */
  replace(name: string, text: string): Promise<void>;
  /** The text under this name, if there is any. */
  find(name: string): Promise<string | undefined>;
  /** Whether a file of this name exists: an operator's one-time message to the next start. */
  has(name: string): Promise<boolean>;
  /** Removes such a file, once its request is done. */
  forget(name: string): Promise<void>;
  release(): Promise<void>;
}

/**
 * Makes the directory if it is absent (mode 0700) and takes its lock. It refuses a directory that is open to other
 * users. The group may traverse it, because the embedded database needs that when root starts it.
 *
 * @throws StartError
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const directory = resolve(path);
  const lock = await makeAndLock(directory).catch((error: Error) => {
    if (error instanceof StartError) throw error;
    if (error instanceof LockedByAnotherMachineError) throw lockedElsewhere(directory, error);
    throw StartError.config(
      `The data directory ${directory} cannot be used: ${error.message}. It must be writable and on a local file system; set DATA_DIR to use another one.`,
      error,
    );
  });
  if (lock === undefined) {
    throw StartError.inUse(
      `Another server is running on the data directory ${directory}. Stop it, or give this one another DATA_DIR.`,
    );
  }
  return {
    path: directory,
    keep: (name, make) => keep(join(directory, name), make),
    replace: (name, text) => replace(join(directory, name), text),
    find: (name) => readIfPresent(join(directory, name)),
    has: async (name) => (await readIfPresent(join(directory, name))) !== undefined,
    forget: (name) => rm(join(directory, name), { force: true }),
    release: () => lock.release(),
  };
}

async function makeAndLock(directory: string) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const mode = (await stat(directory)).mode & 0o777;
  if ((mode & openToOthers) !== 0) {
    throw StartError.config(
      `The data directory ${directory} is open to other users (mode ${mode.toString(8)}), and the root secret is in it: run \`chmod 700 ${directory}\`, or set DATA_DIR to another one, which is created if it is absent.`,
    );
  }
  return lockDirectory(directory);
}

/** All permissions except the group's to traverse it. */
const openToOthers = 0o067;

const lockedElsewhere = (directory: string, { machine, holder }: LockedByAnotherMachineError): StartError =>
  StartError.inUse(
    `A server on the machine "${machine}" uses the data directory ${directory}, or did not shut down cleanly. Stop it there. If there is no such server, remove the file ${holder} from the directory. Keep a data directory on a local file system, used by one machine.`,
  );

async function keep(path: string, make: () => string): Promise<string> {
  const stored = await readIfPresent(path);
  if (stored !== undefined) return stored;
  const text = make();
  // Written and synced under another name first, because a crash must not leave half a secret that is later taken for
  // a whole one.
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(draft, text);
    await link(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(dirname(path));
  return text;
}

async function replace(path: string, text: string): Promise<void> {
  if ((await readIfPresent(path)) === text) return;
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(draft, text);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(dirname(path));
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
