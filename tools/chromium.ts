/** The browser of the end-to-end tests: found, or installed where that may be done without asking. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const missing = 'Chromium is missing: install it (package "chromium") or let CHROMIUM_PATH name one.';

/** The file named by `CHROMIUM_PATH`, else the first known command on the PATH. @throws Error, one line, when there is none */
export function findChromium(environment: Environment): string {
  const found = environment['CHROMIUM_PATH'] || onPath(environment);
  if (!found) throw new Error(missing);
  return found;
}

/** Likewise, and installs the package when it is missing and this is root on a machine with apt-get. */
export function findOrInstallChromium(environment: Environment): string {
  const found = environment['CHROMIUM_PATH'] || onPath(environment);
  if (found) return found;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) throw new Error(missing);
  console.log('Installing Chromium for the browser tests ...');
  const options = { stdio: 'inherit', env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  try {
    execFileSync('apt-get', ['update', '-q'], options);
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], options);
  } catch {
    throw new Error(missing);
  }
  return findChromium(environment);
}

function onPath(environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return commands.flatMap((command) => folders.map((folder) => join(folder, command))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
