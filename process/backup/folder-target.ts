/**
 * Backups in a folder. Each object is written to a draft in `incoming/` and synced. Then the draft is renamed to its final name and
 * the folders are synced. So an object with its final name is complete. The next backup removes drafts that a crash has left.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeBytesDurably } from '../durable-file.ts';
import { BackupError } from './error.ts';
import { type BackupTarget, checkObjectName, type StoredObject } from './target.ts';

const drafts = 'incoming';

/** With `create`, makes the folder if it is absent, and removes old drafts. @throws BackupError */
export async function openFolderTarget(
  path: string,
  { create }: { readonly create: boolean },
): Promise<BackupTarget> {
  const folder = resolve(path);
  await attempt(folder, async () => {
    if (!create) {
      await readdir(folder);
      return;
    }
    await rm(join(folder, drafts), { recursive: true, force: true });
    await mkdir(join(folder, drafts), { recursive: true, mode: 0o700 });
  });
  return new FolderTarget(folder);
}

class FolderTarget implements BackupTarget {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, checkObjectName(name));
    const draft = join(this.#folder, drafts, randomUUID());
    return attempt(this.#folder, async () => {
      try {
        await writeBytesDurably(draft, bytes);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
      await syncFolders(this.#folder, dirname(path));
    });
  }

  async get(name: string): Promise<Buffer> {
    try {
      return await readFile(join(this.#folder, checkObjectName(name)));
    } catch (error) {
      if (isAbsent(error)) throw BackupError.damaged(`The backup lacks ${name}.`);
      throw failureOf(this.#folder, error);
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    const path = join(this.#folder, checkObjectName(prefix));
    const entries = await attempt(this.#folder, () =>
      readdir(path, { withFileTypes: true }).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      }),
    );
    for (const entry of entries) {
      if (entry.isDirectory()) {
        yield* this.list(`${prefix}${entry.name}/`);
      } else if (entry.isFile()) {
        const { size } = await attempt(this.#folder, () => stat(join(path, entry.name)));
        yield { name: `${prefix}${entry.name}`, bytes: size };
      }
    }
  }

  remove(names: readonly string[]): Promise<void> {
    return attempt(this.#folder, async () => {
      const folders = new Set<string>();
      for (const name of names) {
        const path = join(this.#folder, checkObjectName(name));
        await rm(path, { force: true });
        folders.add(dirname(path));
      }
      // `rmdir` fails for a folder that still has entries, which then stays.
      for (const folder of folders) await rmdir(folder).catch(() => undefined);
    });
  }

  close(): void {}
}

/** Syncs all folders from the object's up to the target, because each of them may be new. */
async function syncFolders(top: string, path: string): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    const opened = await open(folder, 'r');
    try {
      await opened.sync();
    } finally {
      await opened.close();
    }
    if (folder === top) return;
  }
}

async function attempt<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(folder, error);
  }
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

function failureOf(folder: string, error: unknown): BackupError {
  if (error instanceof BackupError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const what = isFull ? 'is full: make room, or keep fewer backups' : `cannot be used: ${message}`;
  return BackupError.unavailable(`The folder of backups ${folder} ${what}.`, error);
}
