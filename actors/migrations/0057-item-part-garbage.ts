import type { Migration } from '../../runtime/migration.ts';

export const itemPartGarbage: Migration = {
  id: 'domain-0057-item-part-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE item_part CONFIGURE ZONE USING gc.ttlseconds = 600',
};
