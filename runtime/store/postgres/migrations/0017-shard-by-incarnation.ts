import type { Migration } from '../../../migration.ts';

export const shardByIncarnation: Migration = {
  id: 'runtime-0017-shard-by-incarnation',
  sql: 'CREATE INDEX IF NOT EXISTS shard_by_incarnation ON shard (incarnation)',
};
