/** The calls that the local disk makes. Tests replace them by a file system that is full, broken or slow. */
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rmdir, stat, statfs, unlink } from 'node:fs/promises';
import { FileStoreError } from './store.ts';

export interface OpenFile {
  /** Resolves to the bytes written, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Resolves to the bytes read: 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Rejects with the errors of the system, which have a code. */
export interface FileSystem {
  /** Opens an existing file for reading. */
  open(path: string): Promise<OpenFile>;
  /** Creates a file for writing, with mode 0600. */
  create(path: string): Promise<OpenFile>;
  /** Creates a folder and those above it, with mode 0700. */
  makeFolder(path: string): Promise<void>;
  /** Makes the entries of a folder durable. */
  syncFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  entriesOf(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<{ readonly bytes: number; readonly writtenMs: number }>;
  freeBytesAt(path: string): Promise<number>;
  checkWritable(path: string): Promise<void>;
}

export const nodeFileSystem: FileSystem = {
  open: (path) => opened(path, 'r'),
  create: (path) => opened(path, 'wx'),
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  async syncFolder(path) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  rename,
  unlink,
  removeFolder: (path) => rmdir(path),
  entriesOf: (path) => readdir(path),
  async stat(path) {
    const { size, mtimeMs } = await stat(path);
    return { bytes: size, writtenMs: Math.floor(mtimeMs) };
  },
  async freeBytesAt(path) {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
  checkWritable: (path) => access(path, constants.W_OK),
};

async function opened(path: string, flags: 'r' | 'wx'): Promise<OpenFile> {
  const file = await open(path, flags, 0o600);
  return {
    write: async (bytes, position) => (await file.write(bytes, 0, bytes.byteLength, position)).bytesWritten,
    read: async (into, position) => (await file.read(into, 0, into.byteLength, position)).bytesRead,
    sync: () => file.sync(),
    close: () => file.close(),
  };
}

/** Any other error, such as `EROFS`, `EIO` or `EMFILE`, concerns the system and not this blob. */
export function fileStoreErrorOf(error: unknown): FileStoreError {
  if (error instanceof FileStoreError) return error;
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) return new FileStoreError('full', error);
  return new FileStoreError('unavailable', error);
}

export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | undefined)?.code;

/** Ignores errors that say that there is nothing to do. */
export const unless =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
  };
