import type { Migration } from '../../../migration.ts';

export const actorGarbage: Migration = {
  id: 'runtime-0022-actor-garbage',
  only: 'CockroachDB',
  sql: 'ALTER TABLE actor CONFIGURE ZONE USING gc.ttlseconds = 600',
};
