import type { Program } from './program.ts';

/**
 * A widespread mail server, for the tests of mail. It comes without a configuration, so installing it starts nothing.
 */
export const postfix: Program = {
  name: 'Postfix',
  variable: 'POSTFIX_PATH',
  commands: ['postfix'],
  package: 'postfix',
  answers: ['postfix postfix/main_mailer_type select No configuration'],
};
