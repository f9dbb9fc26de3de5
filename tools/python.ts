/** Python programs for tests, each in a folder of its own with its packages. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, findOrInstallProgram, type Program } from './program.ts';

const python: Program = {
  name: 'Python',
  variable: 'PYTHON_PATH',
  commands: ['python3'],
  package: 'python3-venv',
};

const cache = fileURLToPath(new URL('../.cache', import.meta.url));

export interface PythonPackages {
  readonly name: string;
  readonly version: string;
  /** Its packages with exact versions, itself included. */
  readonly packages: readonly string[];
}

/** The Python that has them, installed if missing. @throws Error, one line, if that fails */
export function findOrMakePython(
  { name, version, packages }: PythonPackages,
  environment: Environment,
): string {
  const folder = join(cache, `${name}-${version}`);
  const found = join(folder, 'bin/python3');
  if (existsSync(found)) return found;
  const program = findOrInstallProgram(python, environment);
  mkdirSync(cache, { recursive: true });
  // Made under another name first, because several test processes may begin at once.
  const made = mkdtempSync(join(cache, `${name}-`));
  try {
    execFileSync(program, ['-m', 'venv', made], { stdio: 'pipe' });
    const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages];
    execFileSync(join(made, 'bin/python3'), pip, { stdio: 'pipe' });
    if (!existsSync(folder)) renameSync(made, folder);
  } catch {
    if (!existsSync(found)) throw new Error(`${name} could not be installed: ${program} needs venv and pip.`);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return found;
}
