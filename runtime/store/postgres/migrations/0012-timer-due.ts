import type { Migration } from '../../../migration.ts';

export const timerDue: Migration = {
  id: 'runtime-0012-timer-due',
  formerly: 'timer-0002-due',
  sql: 'CREATE INDEX IF NOT EXISTS timer_due ON timer (shard, due_at) WHERE dead = false',
};
