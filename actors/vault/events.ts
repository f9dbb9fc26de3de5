/** What a vault publishes to the gateways that hold sockets of its members (docs/protocol/sockets.md, "Vaults"). */
import { z } from 'zod';

/** There is something to sync. */
const itemsChangedSchema = z.object({
  event: z.literal('items-changed'),
  timestamp: z.number(),
  /** Who caused it. He hears nothing, but for his sessions other than this one, where one is named. */
  by: z.string().optional(),
  session: z.string().optional(),
});
export type VaultItemsChanged = z.infer<typeof itemsChangedSchema>;

/** From this commit on he is no member: of this membership, which another may come after. */
const memberRemovedSchema = z.object({
  event: z.literal('member-removed'),
  userUuid: z.string(),
  membership: z.number(),
});

export const vaultEventSchema = z.discriminatedUnion('event', [itemsChangedSchema, memberRemovedSchema]);
export type VaultEvent = z.infer<typeof vaultEventSchema>;
