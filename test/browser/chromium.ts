import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../../tools/program.ts';
import { chromium as program } from '../../tools/programs.ts';

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

/** Chromium's own virtual one, which answers at once. */
export async function plugInSecurityKey(page: Page): Promise<void> {
  const authenticators = await page.context().newCDPSession(page);
  await authenticators.send('WebAuthn.enable');
  await authenticators.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasResidentKey: false,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
