/** What the inbox of the `user` actor is asked and told (docs/protocol/inbox.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { messageSchema, vaultInviteSchema } from '../../inbox-entries.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';

const nothing = z.object({});
const success = z.boolean();

const commands = {
  listMessages: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ messages: z.array(messageSchema).readonly() }),
  }),
  /** Those that the caller has sent and that nobody has deleted. */
  listSentMessages: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ messages: z.array(messageSchema).readonly() }),
  }),
  /** Refusals: 400. The same for a recipient who is not there. */
  sendMessage: signedIn({
    access: 'writes',
    fields: z.object({
      recipient_uuid: z.string(),
      encrypted_message: z.string(),
      replaceability_identifier: z.string().nullish(),
    }),
    ok: z.object({ message: messageSchema }),
  }),
  /** By its sender or its recipient. Refusals: 400. */
  deleteMessage: signedIn({
    access: 'writes',
    fields: z.object({ messageUuid: z.string() }),
    ok: z.object({ success }),
  }),
  deleteMessages: signedIn({ access: 'writes', fields: nothing, ok: z.object({ success }) }),

  /** The invites to vaults that wait for the caller's answer, as their vaults have told of them. */
  listInboundInvites: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ invites: z.array(vaultInviteSchema).readonly() }),
  }),
};

const ofVault = { vaultUuid: z.string() };

/** What a notification is about. Everything that is told about one subject is told by one vault. */
const subjectSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('shared_vault_item_removed'), ...ofVault, itemUuid: z.string() }),
  z.object({ type: z.literal('self_removed_from_shared_vault'), ...ofVault }),
  z.object({ type: z.literal('user_removed_from_shared_vault'), ...ofVault }),
  z.object({ type: z.literal('user_added_to_shared_vault'), ...ofVault }),
  z.object({ type: z.literal('user_designated_as_survivor'), ...ofVault, userUuid: z.string() }),
  z.object({ type: z.literal('shared_vault_invite_canceled'), ...ofVault, inviteUuid: z.string() }),
  z.object({ type: z.literal('shared_vault_file_uploaded'), ...ofVault }),
  z.object({ type: z.literal('shared_vault_file_removed'), ...ofVault }),
]);
export type Subject = z.infer<typeof subjectSchema>;

/** The position of the vault's head when it happened: tells come in no order, and the later one counts. */
const at = z.int();

const tells = {
  // --- by vaults ----------------------------------------------------------------------------------------------

  /** Stored, given by every sync that has not given it yet, and pushed. One about the same subject is replaced. */
  notified: z.object({ subject: subjectSchema, at }),
  /** The same of items that their owner has taken out of the vault. */
  itemsRemoved: z.object({ ...ofVault, itemUuids: z.array(z.string()).readonly(), at }),
  /**
   * Items that were in the vault before are in it again: what said that they were removed goes, at the one who has put
   * them there (`byYou`) also what said so of any other item.
   */
  itemsRejoined: z.object({ ...ofVault, itemUuids: z.array(z.string()).readonly(), byYou: z.boolean(), at }),
  /** The user is a member again: what said the contrary goes. */
  rejoined: z.object({ ...ofVault, at }),
  /**
   * A new invite, or what has become of it: of one vault the one that was changed last counts. `isNew` is pushed, a
   * changed one comes by sync alone.
   */
  invited: z.object({ invite: vaultInviteSchema, isNew: z.boolean() }),
  /** The invite was accepted, declined or cancelled, or its vault has ended. A notification is told by itself. */
  inviteGone: z.object({ ...ofVault, inviteUuid: z.string() }),

  // --- by other users -----------------------------------------------------------------------------------------

  /** To the recipient. `replaces`: the one before it of the same sender and identifier. */
  messageSent: z.object({ message: messageSchema, replaces: z.string().optional() }),
  /** To the recipient: its sender has deleted them. */
  messagesWithdrawn: z.object({ uuids: z.array(z.string()).readonly() }),
  /** To the sender: the recipient has deleted them, or had no room for them. */
  messagesGone: z.object({ uuids: z.array(z.string()).readonly() }),
};

export const Inbox = contract({
  name: 'user',
  commands: openToBridges(commands),
  tells,
});
