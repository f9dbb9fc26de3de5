/** How many client connections the file descriptors of the process allow. */
import { readFileSync } from 'node:fs';

/** For the database, other nodes, files and the admin port. */
const reserved = 256;

/**
 * No more than `requested`. `limits` is Linux's report for a process. Other systems report nothing, and count as having
 * enough.
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
