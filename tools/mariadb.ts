import type { Program } from './program.ts';

/** A database as the existing server has it, for the tests of the import. Its package brings no service along. */
export const mariadb: Program = {
  name: 'MariaDB',
  variable: 'MARIADB_PATH',
  commands: ['mariadbd'],
  package: 'mariadb-server-core',
};
