import type { Program } from './program.ts';

/** By which the documents try the API. */
export const curl: Program = {
  name: 'curl',
  variable: 'CURL_PATH',
  commands: ['curl'],
  package: 'curl',
};
