/**
 * Builds Gitea from its module. `go install` would ignore the replacements in its `go.mod`. So the one beside this
 * file repeats them and names Gitea as a tool.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runGo } from '../go-program.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const module = 'code.gitea.io/gitea';
const version = '1.26.0';
const tags = 'sqlite sqlite_unlock_notify';

export const giteaProgram = fileURLToPath(new URL(`../../.cache/gitea-v${version}/gitea`, import.meta.url));

/** On first use on a machine this fetches and compiles it: ten minutes. @throws Error, one line */
export function buildGitea(): void {
  if (existsSync(giteaProgram)) return;
  const flags = ['-tags', tags, '-ldflags', `-X main.Version=${version}`];
  runGo('Gitea', ['build', ...flags, '-o', giteaProgram, module], { cwd: folder });
}

/** The folder of its templates and texts, which it reads at run time. */
export const giteaFiles = (): string =>
  execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: folder, encoding: 'utf8' }).trim();
