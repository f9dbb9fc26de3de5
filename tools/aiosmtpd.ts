/** The mail server of the tests: a Python package, kept with what it needs in a folder of its own. */
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

const packages = ['aiosmtpd==1.4.6', 'atpublic==9.0.0', 'attrs==26.1.0'];
const cache = fileURLToPath(new URL('../.cache', import.meta.url));
const folder = join(cache, 'aiosmtpd-1.4.6');

/** The Python that has it, made when it is missing. @throws Error, one line, when that fails */
export function findOrMakeAiosmtpd(environment: Environment): string {
  const found = join(folder, 'bin/python3');
  if (existsSync(found)) return found;
  const program = findOrInstallProgram(python, environment);
  mkdirSync(cache, { recursive: true });
  // Made aside, as several test processes may begin at once.
  const made = mkdtempSync(join(cache, 'aiosmtpd-'));
  try {
    execFileSync(program, ['-m', 'venv', made], { stdio: 'pipe' });
    const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages];
    execFileSync(join(made, 'bin/python3'), pip, { stdio: 'pipe' });
    if (!existsSync(folder)) renameSync(made, folder);
  } catch {
    if (!existsSync(found))
      throw new Error(`aiosmtpd could not be installed: ${program} needs venv and pip.`);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return found;
}
