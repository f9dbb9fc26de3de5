import { type Browser, chromium } from 'playwright-core';
import { chromium as program } from '../../tools/chromium.ts';
import { findProgram } from '../../tools/program.ts';

/** A headless browser with a new, empty profile that talks to nobody but the pages it opens. */
export function launchChromium(environment: NodeJS.ProcessEnv): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram(program, environment),
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
