import type { Migration } from '../../../migration.ts';

export const slice: Migration = {
  id: 'runtime-0008-slice',
  formerly: 'slice-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS slice (
      kind text NOT NULL,
      id text NOT NULL,
      slice text NOT NULL,
      data bytea NOT NULL,
      PRIMARY KEY (kind, id, slice)
    )`,
};
