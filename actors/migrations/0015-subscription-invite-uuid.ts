import type { Migration } from '../../runtime/migration.ts';

export const subscriptionInviteUuid: Migration = {
  id: 'domain-0015-subscription-invite-uuid',
  sql: `
    CREATE UNIQUE INDEX IF NOT EXISTS subscription_invite_unique_uuid
      ON subscription_invite (uuid)`,
};
