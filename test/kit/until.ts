import { setTimeout as pause } from 'node:timers/promises';

/** Polls for a condition that no event announces. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${condition}`);
    await pause(20);
  }
}
