import type { Program } from './program.ts';

/** The browser of the end-to-end tests. */
export const chromium: Program = {
  name: 'Chromium',
  variable: 'CHROMIUM_PATH',
  commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  package: 'chromium',
};
