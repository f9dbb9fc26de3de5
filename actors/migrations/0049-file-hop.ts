import type { Migration } from '../../runtime/migration.ts';

/** Nodes of the release before know nothing of it: what they write has made no hop. */
export const fileHop: Migration = {
  id: 'domain-0049-file-hop',
  sql: 'ALTER TABLE file ADD COLUMN IF NOT EXISTS hop int8 NOT NULL DEFAULT 0',
};
