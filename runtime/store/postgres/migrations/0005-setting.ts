import type { Migration } from '../../../migration.ts';

export const setting: Migration = {
  id: 'runtime-0005-setting',
  sql: `
    CREATE TABLE IF NOT EXISTS setting (
      name text NOT NULL PRIMARY KEY,
      value text NOT NULL
    )`,
};
