/**
 * The lock of a data directory: a listening unix socket in it, which the kernel takes away with the process,
 * however it ends.
 *
 * Socket files outlive their listener, and removing a dead one by its name could remove the live one of a server
 * that came first. So names are never used twice: `lock.<n>.sock` counts up.
 *
 * 1. Listen under a private name. From here on whoever connects gets an answer.
 * 2. Find the highest n. If something listens there, the directory is taken: give up.
 * 3. Hard-link the private name to n + 1. That name appears at once and already listening; if it exists, another
 *    starter was faster: go to 2.
 * 4. Look again. If there is a higher name than mine, mine had been used and swept before (step 5): remove it,
 *    go to 2. Else the lock is held.
 * 5. Remove the lower names. The name held stays when the server ends, and is what the next one counts from.
 *
 * Invariants: the highest name is never removed; a server links n + 1 only after it found n dead; whoever holds
 * the lock listens at the highest name. A crash at any step leaves at most dead names behind.
 */
import { randomUUID } from 'node:crypto';
import { link, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { withShortPath } from './short-path.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

const lockName = /^lock\.(\d+)\.sock$/;
const maxRounds = 100;

/** Takes the lock of an existing directory. Undefined: another process holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock | undefined> {
  return withShortPath(resolve(directory), async (shortPath) => {
    const privateName = `lock-${randomUUID()}.tmp`;
    const server = await listen(join(shortPath, privateName));
    const held = await claim(shortPath, privateName).catch(async (error: unknown) => {
      await close(server);
      throw error;
    });
    await rm(join(shortPath, privateName), { force: true });
    if (held) return { release: () => close(server) };
    await close(server);
    return undefined;
  });
}

async function claim(directory: string, privateName: string): Promise<boolean> {
  for (let round = 0; round < maxRounds; round += 1) {
    const highest = Math.max(0, ...(await generations(directory)));
    if (highest > 0 && (await answers(join(directory, nameOf(highest))))) return false;
    const mine = highest + 1;
    if (!(await linked(join(directory, privateName), join(directory, nameOf(mine))))) continue;
    const all = await generations(directory);
    if (Math.max(...all) > mine) {
      await rm(join(directory, nameOf(mine)), { force: true });
      continue;
    }
    const lower = all.filter((generation) => generation < mine);
    await Promise.all(lower.map((generation) => rm(join(directory, nameOf(generation)), { force: true })));
    return true;
  }
  throw new Error(`The lock of ${directory} changed hands ${maxRounds} times while it was being taken.`);
}

const nameOf = (generation: number): string => `lock.${generation}.sock`;

async function generations(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => {
    const match = lockName.exec(name);
    return match ? [Number(match[1])] : [];
  });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((fulfil, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => fulfil(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((fulfil) => {
    server.close(() => fulfil());
  });
}

/** Whether a process listens there. A name that is gone or refuses is dead; any other failure is a failure. */
function answers(path: string): Promise<boolean> {
  return new Promise((fulfil, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      fulfil(true);
    });
    socket.once('error', (error) => {
      const code = codeOf(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return fulfil(false);
      // A full backlog is a live listener that is busy.
      if (code === 'EAGAIN') return fulfil(true);
      reject(error);
    });
  });
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
