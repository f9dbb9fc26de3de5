import type { Migration } from '../../../migration.ts';

export const outboxGarbage: Migration = {
  id: 'runtime-0019-outbox-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE outbox CONFIGURE ZONE USING gc.ttlseconds = 600',
};
