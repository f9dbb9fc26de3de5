import type { Migration } from '../../runtime/migration.ts';

/** The default is for the items that there are, none of which has moved, and for what nodes of the version before save. */
export const itemBorn: Migration = {
  id: 'domain-0043-item-born',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS born bool DEFAULT true',
};
