import type { Migration } from '../../../migration.ts';

export const timerGarbage: Migration = {
  id: 'runtime-0018-timer-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE timer CONFIGURE ZONE USING gc.ttlseconds = 600',
};
