import type { Migration } from '../../../migration.ts';

export const node: Migration = {
  id: 'runtime-0001-node',
  sql: `
    CREATE TABLE IF NOT EXISTS node (
      id text NOT NULL PRIMARY KEY,
      incarnation text,
      address text NOT NULL,
      roles text NOT NULL,
      version text NOT NULL,
      formats text NOT NULL,
      started int8 NOT NULL,
      expires_at int8 NOT NULL
    )`,
};
