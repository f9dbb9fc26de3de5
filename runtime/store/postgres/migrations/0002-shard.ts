import type { Migration } from '../../../migration.ts';

export const shard: Migration = {
  id: 'runtime-0002-shard',
  sql: `
    CREATE TABLE IF NOT EXISTS shard (
      shard int8 NOT NULL PRIMARY KEY,
      node text NOT NULL,
      incarnation text NOT NULL,
      epoch int8 NOT NULL
    )`,
};
