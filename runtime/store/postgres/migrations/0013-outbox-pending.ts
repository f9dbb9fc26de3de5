import type { Migration } from '../../../migration.ts';

export const outboxPending: Migration = {
  id: 'runtime-0013-outbox-pending',
  formerly: 'outbox-0002-pending',
  sql: 'CREATE INDEX IF NOT EXISTS outbox_pending ON outbox (target_shard, retry_at) WHERE dead = false',
};
