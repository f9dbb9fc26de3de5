import type { Migration } from '../../runtime/migration.ts';

export const inboxInviteByOrder: Migration = {
  id: 'domain-0040-inbox-invite-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS inbox_invite_by_order ON inbox_invite (user_uuid, position)',
};
