import type { Migration } from '../../../migration.ts';

export const actorByEnd: Migration = {
  id: 'runtime-0016-actor-by-end',
  sql: 'CREATE INDEX IF NOT EXISTS actor_by_end ON actor (shard, ended_at) WHERE ended_at IS NOT NULL',
};
