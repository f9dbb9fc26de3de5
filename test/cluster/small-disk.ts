/** A separate file system that a test can fill to the last byte; only root may make one. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  fill(): Promise<void>;
  free(): Promise<void>;
  unmount(): void;
}

const chunkBytes = 65_536;

/** Undefined if it may not be made. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmdirSync(path);
    return undefined;
  }
  // The database runs as another user.
  chmodSync(path, 0o755);
  const filler = join(path, 'filler');
  const unmount = (): void => {
    execFileSync('umount', ['-l', path]);
    rmdirSync(path);
    process.off('exit', unmount);
  };
  process.once('exit', unmount);
  return { path, fill: () => fill(filler), free: () => rm(filler), unmount };
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (;;) await file.write(Buffer.alloc(chunkBytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}
