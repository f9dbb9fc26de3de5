import type { Migration } from '../../../migration.ts';

/** 0: nobody has looked yet, as at rows that were made before there was this column. */
export const actorEnded: Migration = {
  id: 'runtime-0015-actor-ended',
  sql: 'ALTER TABLE actor ADD COLUMN IF NOT EXISTS ended_at int8 DEFAULT 0',
};
