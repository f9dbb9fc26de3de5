import type { Migration } from '../../../migration.ts';

export const nodeDraining: Migration = {
  id: 'runtime-0006-node-draining',
  sql: 'ALTER TABLE node ADD COLUMN IF NOT EXISTS draining bool NOT NULL DEFAULT false',
};
