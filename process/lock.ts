/**
 * The lock of a data directory: a listening unix socket in it, which the kernel takes away with the process,
 * however it ends.
 *
 * Socket files outlive their listener, and removing a dead one by its name could remove the live one of a server
 * that came first. So names are never used twice: `lock.<n>.sock` counts up.
 *
 * On a file system that machines share, the socket of another machine is silent although its server lives. So
 * a server that takes n first records its machine, in `lock.<n>.<random>.holder`, and removes that when it
 * shuts down cleanly.
 *
 * 1. Listen under a private name. From here on anything that connects gets an answer.
 * 2. Find the highest n. If a holder of n is on another machine, or something listens there, the directory is taken:
 *    give up.
 * 3. Write a holder of n + 1. Hard-link the private name to n + 1. That name appears at once and already listening; if
 *    it exists, another starter was faster: remove our holder, go to 2.
 * 4. Look again. If there is a higher name than ours, ours had been used and swept before (step 5): remove it
 *    and our holder, go to 2. Else the lock is held.
 * 5. Remove what is lower. The name held stays when the server ends, and is what the next one counts from.
 *
 * Invariants:
 * - The highest name is never removed.
 * - A server links n + 1 only after it found n dead, on its own machine or with no holder.
 * - A name that exists has its holder beside it from the first moment.
 * - The holder of the lock listens at the highest name.
 *
 * A crash at any step leaves at most dead names and holders behind. Those of an earlier start of this machine are dead like
 * their sockets. Those of another machine keep the directory until an operator removes them.
 */
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { writeDurably } from './durable-file.ts';
import { isAnotherMachine, type Machine, thisMachine } from './machine.ts';
import { withShortPath } from './short-path.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** A server of another machine has the directory, or did not shut down cleanly. */
export class LockedByAnotherMachineError extends Error {
  readonly machine: string;
  readonly holder: string;
  constructor(machine: string, holder: string) {
    super(`the lock is held on the machine "${machine}"`);
    this.machine = machine;
    this.holder = holder;
  }
}

const lockName = /^lock\.(\d+)\.sock$/;
const holderName = /^lock\.(\d+)\.[\w-]+\.holder$/;
const maxRounds = 100;

/** Takes the lock of an existing directory. Undefined if another process holds it. @throws LockedByAnotherMachineError */
export async function lockDirectory(
  directory: string,
  machine?: Machine,
): Promise<DirectoryLock | undefined> {
  const path = resolve(directory);
  const here = machine ?? (await thisMachine());
  return withShortPath(path, async (shortPath) => {
    const privateName = `lock-${randomUUID()}.tmp`;
    const server = await listen(join(shortPath, privateName));
    const holder = await claim(shortPath, privateName, here).catch(async (error: unknown) => {
      await close(server);
      throw error;
    });
    await rm(join(shortPath, privateName), { force: true });
    if (holder !== undefined) {
      return {
        async release() {
          await rm(join(path, holder), { force: true });
          await close(server);
        },
      };
    }
    await close(server);
    return undefined;
  });
}

/** The name of the holder. Undefined: the lock is taken. */
async function claim(directory: string, privateName: string, here: Machine): Promise<string | undefined> {
  const remove = (name: string) => rm(join(directory, name), { force: true });
  for (let round = 0; round < maxRounds; round += 1) {
    const highest = Math.max(0, ...(await named(directory, lockName)).map(({ generation }) => generation));
    if (highest > 0 && (await isHeld(directory, highest, here))) return undefined;
    const mine = highest + 1;
    const holder = `lock.${mine}.${randomUUID()}.holder`;
    await writeHolder(directory, holder, here);
    if (!(await linked(join(directory, privateName), join(directory, nameOf(mine))))) {
      await remove(holder);
      continue;
    }
    const all = [...(await named(directory, lockName)), ...(await named(directory, holderName))];
    const isOver = all.some(({ name, generation }) => lockName.test(name) && generation > mine);
    if (isOver) {
      await remove(nameOf(mine));
      await remove(holder);
      continue;
    }
    const lower = all.filter(({ generation }) => generation < mine);
    await Promise.all(lower.map(({ name }) => remove(name)));
    return holder;
  }
  throw new Error(`The lock of ${directory} changed hands ${maxRounds} times while it was being taken.`);
}

const nameOf = (generation: number): string => `lock.${generation}.sock`;

async function named(directory: string, pattern: RegExp) {
  const names = await readdir(directory);
  return names.flatMap((name) => {
    const match = pattern.exec(name);
    return match ? [{ name, generation: Number(match[1]) }] : [];
  });
}

/** @throws LockedByAnotherMachineError */
async function isHeld(directory: string, generation: number, here: Machine): Promise<boolean> {
  for (const { name, generation: of } of await named(directory, holderName)) {
    if (of !== generation) continue;
    const machine = await readHolder(join(directory, name));
    if (machine !== undefined && isAnotherMachine(machine, here))
      throw new LockedByAnotherMachineError(machine.name, name);
  }
  return answers(join(directory, nameOf(generation)));
}

/** Written under another name first, so that no reader gets half of it. */
async function writeHolder(directory: string, name: string, here: Machine): Promise<void> {
  const draft = join(directory, `${name}.tmp`);
  await writeDurably(draft, JSON.stringify(here));
  await rename(draft, join(directory, name));
}

/** Undefined if another process has just removed it. */
async function readHolder(path: string): Promise<Machine | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Machine;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
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
