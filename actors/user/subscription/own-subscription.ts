/**
 * The subscription of an account. Every account has full access, and none was bought. So the account itself yields what clients
 * read (docs/protocol/account.md, "Subscription and features"), unless a conformance run has set something else.
 */
import { z } from 'zod';
import type { View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { derivedUuid } from '../../identity/uuid-text.ts';
import { profileSlice } from '../profile.ts';

const premiumSchema = z
  .object({
    subscriptionId: z.number(),
    planName: z.string(),
    endsAtMicros: z.number(),
    sinceMicros: z.number(),
  })
  .nullable();

/** Set by a conformance run. Null: nothing is. */
export const premiumSlice = slice<Readonly<z.infer<typeof premiumSchema>>>({
  name: 'premium',
  schema: premiumSchema,
  initial: null,
});

const dayMicros = 86_400_000_000;
const lengthMicros = 36_500 * dayMicros;

export function ownSubscription(view: View) {
  const premium = view.get(premiumSlice);
  const sinceMicros = premium?.sinceMicros ?? view.get(profileSlice).createdAtMs * 1_000;
  return {
    planName: premium?.planName ?? 'PRO_PLAN',
    endsAt: premium?.endsAtMicros ?? view.nowMicros + lengthMicros,
    createdAt: sinceMicros,
    updatedAt: sinceMicros,
    cancelled: false,
    subscriptionId: ownSubscriptionId(view),
  };
}

export const ownSubscriptionId = (view: View): number =>
  view.get(premiumSlice)?.subscriptionId ?? derivedId(view.self.id);

/** A number that never changes for the account. It has ten digits, like those that clients know. */
const derivedId = (userUuid: string): number =>
  1_000_000_000 + (Number.parseInt(derivedUuid(`subscription ${userUuid}`).slice(0, 8), 16) % 1_000_000_000);
