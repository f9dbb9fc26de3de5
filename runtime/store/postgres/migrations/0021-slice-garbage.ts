import type { Migration } from '../../../migration.ts';

export const sliceGarbage: Migration = {
  id: 'runtime-0021-slice-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE slice CONFIGURE ZONE USING gc.ttlseconds = 600',
};
