import type { Migration } from '../../../migration.ts';

export const callAge: Migration = {
  id: 'runtime-0014-call-age',
  formerly: 'call-0002-age',
  sql: 'CREATE INDEX IF NOT EXISTS call_age ON call (shard, at)',
};
