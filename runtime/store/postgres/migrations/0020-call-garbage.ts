import type { Migration } from '../../../migration.ts';

export const callGarbage: Migration = {
  id: 'runtime-0020-call-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE call CONFIGURE ZONE USING gc.ttlseconds = 600',
};
