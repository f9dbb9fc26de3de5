import type { Migration } from '../../../migration.ts';

export const nodeGarbage: Migration = {
  id: 'runtime-0023-node-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE node CONFIGURE ZONE USING gc.ttlseconds = 600',
};
