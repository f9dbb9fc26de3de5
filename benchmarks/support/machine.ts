/** The costs of processes, read from the kernel (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

const clockTicksPerSecond = 100;

function statOf(pid: number): { parent: number; cpuMs: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { parent: Number(fields[1]), cpuMs: (ticks * 1_000) / clockTicksPerSecond };
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}

/** The process and everything it started. */
export function treeOf(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined;
    if (stat !== undefined) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const tree: number[] = [];
  const visit = (pid: number) => {
    tree.push(pid);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return tree;
}

/** CPU time of one process; 0 if it has ended. */
export const cpuMs = (pid: number): number => statOf(pid)?.cpuMs ?? 0;

/** CPU time of the process itself and of everything below it (the embedded database), milliseconds. */
export function cpuTimes(root: number): { ownMs: number; belowMs: number } {
  const [own = root, ...below] = treeOf(root);
  return { ownMs: cpuMs(own), belowMs: below.reduce((total, pid) => total + cpuMs(pid), 0) };
}

/** Resident memory of one process. */
export const residentBytes = (pid: number): number => memoryBytes(pid, /VmRSS:\s+(\d+) kB/);

/** The most resident memory of one process so far. */
export const peakBytes = (pid: number): number => memoryBytes(pid, /VmHWM:\s+(\d+) kB/);

function memoryBytes(pid: number, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
}
