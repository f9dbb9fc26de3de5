import type { Program } from './program.ts';

/** The client of PostgreSQL with which the documents make and restore backups. */
export const psql: Program = {
  name: 'psql',
  variable: 'PSQL_PATH',
  commands: ['psql'],
  package: 'postgresql-client',
};
