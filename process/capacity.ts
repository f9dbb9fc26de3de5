/** How much of the machine this process uses at once: file descriptors for clients, and threads for hashes. */
import { readFileSync } from 'node:fs';

/** File descriptors for the database, other nodes, files and the admin port. */
const reserved = 256;

/**
 * How many connections of clients the file descriptors allow, no more than `requested`. `limits` is Linux's report for a process.
 * Other systems report nothing, and count as having enough.
 */
export function connectionsWithin(requested: number, limits = limitsOfProcess()): number {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits) ?? [];
  if (soft === undefined) return requested;
  const descriptors = Number(soft);
  // With hardly any descriptors, half of them are better than no server.
  return Math.min(requested, Math.max(descriptors - reserved, Math.floor(descriptors / 2)));
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** The threads that Node.js starts for hashes, calls of the file system and look-ups of names together. */
const poolThreads = 4;

/**
 * How many hashes a queue runs at once. One core is left for the event loop. More hashes than the pool has threads would be no
 * faster. They would wait in the pool, where calls of the file system queue behind them.
 */
export const hashesAtOnce = (cores: number): number => Math.max(1, Math.min(poolThreads, cores - 1));
