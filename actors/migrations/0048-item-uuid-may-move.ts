import type { Migration } from '../../runtime/migration.ts';

/**
 * An item that moves has a row in two collections, so the key gives way to what replaces it
 * (docs/decisions/0036-the-unique-key-is-the-fence-of-a-move.md): the rows of nodes of the version before are all born, so
 * for them the new index is as strict. CockroachDB drops no unique index without CASCADE; nothing depends on this one.
 */
export const itemUuidMayMove: Migration = {
  id: 'domain-0048-item-uuid-may-move',
  sql: 'DROP INDEX IF EXISTS item_unique_uuid CASCADE',
};
