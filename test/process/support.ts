import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what no event announces. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${condition}`);
    await pause(20);
  }
}

/** Whether a process runs; one that has ended and was not reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}
