/** A built revision in a folder of its own, kept under `.cache/builds` for the next comparison. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../test/kit/server-process.ts';

export interface Build {
  readonly name: string;
  readonly folder: string;
  /** Node's arguments before the entry. */
  readonly nodeArguments: readonly string[];
  /** What Node runs, below the folder. */
  readonly entry: string;
}

/** What `npm start` runs after its build. */
export const builtEntry = 'dist/main.js';

const run = (folder: string, program: string, args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/**
 * `.` builds the working tree where it is. `floor` is no revision, but the least that any could do (`floor-server.ts`).
 *
 * Error if the revision does not exist or does not build
 */
export function buildOf(revision: string): Build {
  if (revision === 'floor') {
    const entry = 'benchmarks/support/floor-server.ts';
    return { name: revision, folder: root, nodeArguments: ['--import=tsx'], entry };
  }
  if (revision === '.') {
    run(root, 'npm', ['run', '--silent', 'build']);
    return { name: revision, folder: root, nodeArguments: [], entry: builtEntry };
  }
  const commit = run(root, 'git', ['rev-parse', '--short=12', `${revision}^{commit}`]);
  const folder = join(root, '.cache/builds', commit);
  if (!existsSync(join(folder, 'dist'))) {
    run(root, 'git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder]);
    run(folder, 'git', ['checkout', '--quiet', commit]);
    run(folder, 'npm', ['ci', '--silent']);
    run(folder, 'npm', ['run', '--silent', 'build']);
  }
  return { name: revision, folder, nodeArguments: [], entry: builtEntry };
}
