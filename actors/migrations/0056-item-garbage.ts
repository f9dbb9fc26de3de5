import type { Migration } from '../../runtime/migration.ts';

export const itemGarbage: Migration = {
  id: 'domain-0056-item-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE item CONFIGURE ZONE USING gc.ttlseconds = 600',
};
