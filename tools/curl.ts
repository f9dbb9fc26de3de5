import type { Program } from './program.ts';

/** The documents try the API with it. */
export const curl: Program = {
  name: 'curl',
  variable: 'CURL_PATH',
  commands: ['curl'],
  package: 'curl',
};
