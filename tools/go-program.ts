/** Go programs for tests: compiled from their modules, once per machine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface GoProgram {
  /** The common name. */
  readonly name: string;
  /** The package; its last segment is the name of the program. */
  readonly package: string;
  readonly version: string;
}

const folderOf = ({ name, version }: GoProgram): string =>
  join(root, '.cache', `${name.toLowerCase()}-${version}`);

/** The path of the built program. */
export const pathOf = (program: GoProgram): string =>
  join(folderOf(program), program.package.split('/').at(-1) ?? '');

/** On first use on a machine this fetches and compiles it: some minutes. @throws Error, one line */
export function buildGoProgram(program: GoProgram): void {
  if (existsSync(pathOf(program))) return;
  // Without the C library, so that it also runs in an image that has nothing else.
  const env = { GOBIN: folderOf(program), CGO_ENABLED: '0' };
  runGo(program.name, ['install', `${program.package}@${program.version}`], { cwd: root, env });
}

/** Runs in the folder of the module and builds the named program. @throws Error, one line */
export function runGo(
  name: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): void {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  const { error, status, stderr } = spawnSync('go', [...args], options);
  if (error !== undefined) {
    throw new Error(`Go is missing: install Go 1.26 or later, with which ${name} is built.`);
  }
  if (status !== 0) throw new Error(`${name} cannot be built: ${stderr.trim()}`);
}
