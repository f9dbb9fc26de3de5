/** What clients read of subscriptions and features (docs/protocol/account.md, "Subscription and features"). */
import { z } from 'zod';
import { signedInOf } from '../../signed-in.ts';

const nothing = z.object({});
const success = z.boolean();

export const subscriptionShapes = {
  getSubscription: signedInOf({
    access: 'reads',
    fields: nothing,
    ok: z.object({
      success,
      user: z.object({ uuid: z.string(), email: z.string() }),
      subscription: z.object({
        uuid: z.string(),
        planName: z.string(),
        /** Microseconds, as all of these. */
        endsAt: z.int(),
        createdAt: z.int(),
        updatedAt: z.int(),
        renewedAt: z.int(),
        cancelled: z.boolean(),
        subscriptionId: z.int(),
        subscriptionType: z.string(),
        userUuid: z.string(),
      }),
    }),
  }),
  getFeatures: signedInOf({
    access: 'reads',
    fields: nothing,
    ok: z.object({
      success,
      userUuid: z.string(),
      features: z.array(
        z.object({
          identifier: z.string(),
          name: z.string(),
          permission_name: z.string(),
          no_expire: z.boolean(),
          role_name: z.string(),
        }),
      ),
    }),
  }),
};
