import type { Migration } from '../../../migration.ts';

export const counter: Migration = {
  id: 'runtime-0003-counter',
  sql: `
    CREATE TABLE IF NOT EXISTS counter (
      name text NOT NULL PRIMARY KEY,
      value int8 NOT NULL
    )`,
};
