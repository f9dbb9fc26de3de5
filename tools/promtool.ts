import type { Program } from './program.ts';

/** Checks and tests the alerts of the chart. */
export const promtool: Program = {
  name: 'promtool',
  variable: 'PROMTOOL_PATH',
  commands: ['promtool'],
  package: 'prometheus',
};
