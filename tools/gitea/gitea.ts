/**
 * Gitea, compiled from its module. `go install` would not take the replacements of its `go.mod`, so the one beside this file, which
 * repeats them, names it as a tool.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const module = 'code.gitea.io/gitea';
const version = '1.26.0';
const tags = 'sqlite sqlite_unlock_notify';

export const giteaProgram = fileURLToPath(new URL(`../../.cache/gitea-v${version}/gitea`, import.meta.url));

/** The first time on a machine this fetches and compiles it: ten minutes. @throws Error, one line */
export function buildGitea(): void {
  if (existsSync(giteaProgram)) return;
  const built = spawnSync(
    'go',
    ['build', '-tags', tags, '-ldflags', `-X main.Version=${version}`, '-o', giteaProgram, module],
    { cwd: folder, encoding: 'utf8' },
  );
  if (built.error !== undefined)
    throw new Error('Go is missing: install Go 1.26 or later, with which Gitea is built.');
  if (built.status !== 0) throw new Error(`Gitea cannot be built: ${built.stderr.trim()}`);
}

/** Where its templates and texts are: it reads them as it runs. */
export const giteaFiles = (): string =>
  execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: folder, encoding: 'utf8' }).trim();
