/** Identifies this machine and its boot, so that a lock on a shared file system can name its holder. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

export interface Machine {
  readonly name: string;
  /** Distinguishes machines of one name; empty if the system has none. */
  readonly id: string;
  /** Changes with each boot. Containers of one machine share it; undefined if unknown. */
  readonly boot: string | undefined;
}

export async function thisMachine(): Promise<Machine> {
  const [id, boot] = await Promise.all([
    textOf('/etc/machine-id'),
    textOf('/proc/sys/kernel/random/boot_id'),
  ]);
  return { name: hostname(), id: id === undefined ? '' : digestOf(id), boot };
}

/** Whether `other` is not this machine. Only on this machine does a silent socket prove that its server is dead. */
export function isAnotherMachine(other: Machine, here: Machine): boolean {
  if (here.boot !== undefined && other.boot === here.boot) return false;
  return other.name !== here.name || other.id !== here.id;
}

/** The id itself must stay private. */
const digestOf = (id: string): string =>
  createHash('sha256').update(`scriptorium ${id}`).digest('hex').slice(0, 16);

const textOf = async (path: string): Promise<string | undefined> =>
  (await readFile(path, 'utf8').catch(() => '')).trim() || undefined;
