/** The inbox of an account: its commands, and its tells from vaults and other users (docs/protocol/inbox.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { messageSchema, vaultInviteSchema } from '../../inbox-entries.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

const success = z.boolean();

const ofVault = { vaultUuid: z.string() };

/** What a notification is about. Only one vault ever tells of a subject. */
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

/** The position of the vault's head when it happened. Tells come in no order, and the greatest counts. */
const at = z.int();

export const Inbox = contract({
  name: 'user',
  commands: openToBridges({
    listMessages: reads({ ok: z.object({ messages: z.array(messageSchema).readonly() }) }),
    /** Messages that the caller has sent and that were not deleted. */
    listSentMessages: reads({ ok: z.object({ messages: z.array(messageSchema).readonly() }) }),
    /** Refusals: 400. A recipient who does not exist makes no difference. */
    sendMessage: writes({
      fields: z.object({
        recipient_uuid: z.string(),
        encrypted_message: z.string(),
        replaceability_identifier: z.string().nullish(),
      }),
      ok: z.object({ message: messageSchema }),
    }),
    /** Called by the sender or the recipient. Refusals: 400. */
    deleteMessage: writes({ fields: z.object({ messageUuid: z.string() }), ok: z.object({ success }) }),
    deleteMessages: writes({ ok: z.object({ success }) }),

    /** The invites to vaults that the caller has not answered, as far as their vaults have reported. */
    listInboundInvites: reads({ ok: z.object({ invites: z.array(vaultInviteSchema).readonly() }) }),
  }),
  tells: {
    // --- by vaults ----------------------------------------------------------------------------------------------

    /**
     * A notification is stored, pushed, and given by each sync until the client has it. It replaces the one about the same
     * subject.
     */
    notified: z.object({ subject: subjectSchema, at }),
    /** The owner has taken these items out of the vault. */
    itemsRemoved: z.object({ ...ofVault, itemUuids: z.array(z.string()).readonly(), at }),
    /**
     * These items are back in the vault, so the notifications of their removal no longer count. The user who put them back (`byYou`)
     * no longer gets those about any other item either.
     */
    itemsRejoined: z.object({
      ...ofVault,
      itemUuids: z.array(z.string()).readonly(),
      byYou: z.boolean(),
      at,
    }),
    /** The user is a member again, so the notification of the removal no longer counts. */
    rejoined: z.object({ ...ofVault, at }),
    /**
     * A new or changed invite. The one that was changed last counts, one for each vault. Only a new one (`isNew`) is pushed; a
     * sync gives the others.
     */
    invited: z.object({ invite: vaultInviteSchema, isNew: z.boolean() }),
    /** The invite was accepted, declined or cancelled, or its vault has ended. A notification of that is a tell of its own. */
    inviteGone: z.object({ ...ofVault, inviteUuid: z.string() }),

    // --- by other users -----------------------------------------------------------------------------------------

    /** To the recipient. It replaces `replaces`, the message of the same sender and identifier before it. */
    messageSent: z.object({ message: messageSchema, replaces: z.string().optional() }),
    /** Tells the recipient that the sender has deleted these. */
    messagesWithdrawn: z.object({ uuids: z.array(z.string()).readonly() }),
    /** Tells the sender that the recipient has deleted these, or had no capacity for them. */
    messagesGone: z.object({ uuids: z.array(z.string()).readonly() }),
  },
});
