/** Programs that tests need and npm does not have: found, or installed if that needs no permission. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Program {
  /** The common name. */
  readonly name: string;
  /** The environment variable that names its file. */
  readonly variable: string;
  readonly commands: readonly string[];
  /** Debian's package. */
  readonly package: string;
  /** Answers for its installer, in the format of `debconf-set-selections`. */
  readonly answers?: readonly string[];
}

/** Debian puts servers there; a user's PATH does not contain it. */
const serverFolder = '/usr/sbin';

/**
 * The file that its variable names, or else the first of its commands on the PATH. @throws Error, one line, if there
 * is none
 */
export function findProgram(program: Program, environment: Environment): string {
  const found = environment[program.variable] || onPath(program, environment);
  if (!found) throw new Error(missing(program));
  return found;
}

/** The same, and installs the package if it is missing and this is root on a machine with apt-get. */
export function findOrInstallProgram(program: Program, environment: Environment): string {
  const found = environment[program.variable] || onPath(program, environment);
  if (found) return found;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    throw new Error(missing(program));
  console.log(`Installing ${program.name} for the tests ...`);
  const options = { stdio: 'inherit', env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  // With `--no-remove` it fails where it would have to replace somebody else's program.
  const install = ['install', '-y', '-q', '--no-install-recommends', '--no-remove', program.package];
  try {
    if (program.answers !== undefined) answer(program.answers);
    execFileSync('apt-get', ['update', '-q'], options);
    withoutServices(() => execFileSync('apt-get', install, options));
  } catch {
    throw new Error(missing(program));
  }
  return findProgram(program, environment);
}

/** Debian asks this program whether a newly installed package may start its services (invoke-rc.d(8)). */
const servicePolicy = '/usr/sbin/policy-rc.d';

/** Tests start what they need themselves. An existing policy is the administrator's, and stays. */
function withoutServices(install: () => void): void {
  const hasPolicy = existsSync(servicePolicy);
  if (!hasPolicy) writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (!hasPolicy) rmSync(servicePolicy);
  }
}

function answer(answers: readonly string[]): void {
  execFileSync('debconf-set-selections', { input: answers.map((line) => `${line}\n`).join('') });
}

function missing({ name, variable, package: debianPackage }: Program): string {
  return `${name} is missing: install it (package "${debianPackage}") or let ${variable} name one.`;
}

function onPath({ commands }: Program, environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return commands
    .flatMap((command) => [...folders, serverFolder].map((folder) => join(folder, command)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
