/** Socket addresses hold about a hundred bytes of path, and directories may be deeper. */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A directory under a path short enough for a socket: a symbolic link if necessary, which exists while `use`
 * runs. The socket itself is in the directory.
 */
export async function withShortPath<T>(
  directory: string,
  use: (shortPath: string) => Promise<T>,
): Promise<T> {
  const holder = await mkdtemp(join(tmpdir(), 'lock-'));
  try {
    const shortPath = join(holder, 'd');
    await symlink(directory, shortPath);
    return await use(shortPath);
  } finally {
    await rm(holder, { recursive: true, force: true });
  }
}
