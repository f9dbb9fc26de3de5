import type { Migration } from '../../../migration.ts';

export const timer: Migration = {
  id: 'runtime-0009-timer',
  formerly: 'timer-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS timer (
      kind text NOT NULL,
      id text NOT NULL,
      name text NOT NULL,
      shard int8 NOT NULL,
      due_at int8 NOT NULL,
      payload bytea NOT NULL,
      attempts int8 NOT NULL,
      dead bool NOT NULL,
      PRIMARY KEY (kind, id, name)
    )`,
};
