/** What a vault publishes to the gateways that hold sockets of its members (docs/protocol/sockets.md, "Vaults"). */
import { z } from 'zod';

/** There is something to sync. */
const itemsChangedSchema = z.object({
  event: z.literal('items-changed'),
  timestamp: z.number(),
  /** The user who caused it. They hear nothing, but for their sessions other than this one, where one is named. */
  by: z.string().optional(),
  session: z.string().optional(),
});
export type VaultItemsChanged = z.infer<typeof itemsChangedSchema>;

/** From this commit on the user is no member by this membership. Another may come after it. */
const memberRemovedSchema = z.object({
  event: z.literal('member-removed'),
  userUuid: z.string(),
  membership: z.number(),
});

export const vaultEventSchema = z.discriminatedUnion('event', [itemsChangedSchema, memberRemovedSchema]);
