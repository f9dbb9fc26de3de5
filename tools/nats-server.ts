import type { Program } from './program.ts';

/** The broker for tests of a cluster. */
export const natsServer: Program = {
  name: 'nats-server',
  variable: 'NATS_SERVER_PATH',
  commands: ['nats-server'],
  package: 'nats-server',
};
