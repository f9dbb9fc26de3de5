import type { Migration } from '../../../migration.ts';

export const nodeConnected: Migration = {
  id: 'runtime-0007-node-connected',
  sql: 'ALTER TABLE node ADD COLUMN IF NOT EXISTS connected bool NOT NULL DEFAULT true',
};
