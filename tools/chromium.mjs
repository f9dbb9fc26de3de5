/** The browser of the end-to-end tests: found, or installed where that may be done without asking. */
import { execFileSync, spawnSync } from 'node:child_process';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of a Chromium, or an error that says in one line what is missing. */
export function findChromium() {
  return process.env.CHROMIUM_PATH ?? onPath() ?? install();
}

function onPath() {
  for (const name of names) {
    const found = spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' });
    if (found.status === 0) return found.stdout.trim();
  }
  return undefined;
}

function install() {
  const missing = 'Chromium is missing: install it (package "chromium") or let CHROMIUM_PATH name one.';
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) throw new Error(missing);
  console.log('Installing Chromium for the browser tests ...');
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    execFileSync('apt-get', ['update', '-q'], options);
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], options);
  } catch {
    throw new Error(missing);
  }
  const installed = onPath();
  if (installed === undefined) throw new Error(missing);
  return installed;
}
