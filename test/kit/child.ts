/** The programs that tests start. Otherwise they would outlive a test process that fails before it stops them. */
import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Kills the program at the latest when this process ends. Resolves once the program has ended. */
export function endWithTests(child: ChildProcess): Promise<void> {
  running.add(child);
  return new Promise((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
}
