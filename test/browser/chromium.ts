import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The Chromium of this machine: the file named by `CHROMIUM_PATH`, else the first known command on the PATH.
 *
 * @throws Error in one line that says what to install, when there is none.
 */
export function findChromium(environment: NodeJS.ProcessEnv): string {
  const named = environment['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = commands
    .flatMap((command) => folders.map((folder) => join(folder, command)))
    .find(isExecutable);
  if (found !== undefined) return found;
  throw new Error('The browser tests need Chromium: install it, or name its executable in CHROMIUM_PATH.');
}

/** A headless browser with a new, empty profile that talks to nobody but the pages it opens. */
export function launchChromium(environment: NodeJS.ProcessEnv): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(environment),
    headless: true,
    chromiumSandbox: false,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
