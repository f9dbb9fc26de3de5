import type { Migration } from '../../../migration.ts';

export const actor: Migration = {
  id: 'runtime-0004-actor',
  sql: `
    CREATE TABLE IF NOT EXISTS actor (
      kind text NOT NULL,
      id text NOT NULL,
      shard int8 NOT NULL,
      epoch int8 NOT NULL,
      version int8 NOT NULL,
      commit_id uuid,
      PRIMARY KEY (kind, id)
    )`,
};
