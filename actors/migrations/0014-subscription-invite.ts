import type { Migration } from '../../runtime/migration.ts';

export const subscriptionInvite: Migration = {
  id: 'domain-0014-subscription-invite',
  sql: `
    CREATE TABLE IF NOT EXISTS subscription_invite (
      user_uuid uuid NOT NULL,
      uuid uuid NOT NULL,
      PRIMARY KEY (user_uuid, uuid)
    )`,
};
