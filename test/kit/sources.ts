/** The sources of a commit of this repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './server-process.ts';

/** Leaves them in `folder`, and nothing else. */
export function extractSources(commit: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'sources.tar');
  execFileSync('git', ['archive', '--output', archive, commit], { cwd: root });
  execFileSync('tar', ['--extract', '--file', archive], { cwd: folder });
  rmSync(archive);
}
