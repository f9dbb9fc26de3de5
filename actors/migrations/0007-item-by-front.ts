import type { Migration } from '../../runtime/migration.ts';

export const itemByFront: Migration = {
  id: 'domain-0007-item-by-front',
  formerly: 'item-0001-by-front',
  sql: `
    CREATE INDEX IF NOT EXISTS item_by_front ON item (collection, position)
      WHERE content_type IN ('SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme')`,
};
