/**
 * The `vault` kind: one actor per shared vault, with its members, its invites and the collection of its items.
 *
 * Whom a command is `by` is vouched for by that user's own actor, which alone asks and has checked the session. All
 * uuids come in lower case.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { fullItemSchema } from '../collection/item-fields.ts';
import { listedSchema, revisionSchema } from '../collection/revisions/read.ts';
import { revisionTimerShapes } from '../collection/revisions/timer-payloads.ts';
import { finalizePayload } from '../collection/transfer/transfer.ts';
import {
  applyItemTransferFields,
  finalizeItemTransferFields,
  saveItemsFields,
  saveResultSchema,
} from '../collection/transfer/wire.ts';
import {
  byToken,
  byTokenShapes,
  fileJobShapes,
  fileMoveTellShapes,
  fileTimerShapes,
} from '../files/messages.ts';
import { movingFileSchema, ownerSchema } from '../files/transfer.ts';
import { permissions, vaultInviteSchema } from '../inbox-entries.ts';
import { answerSchema, refuse } from '../reply.ts';
import { membersMax } from './bounds.ts';
import { vaultEventSchema } from './events.ts';
import { memberSchema, vaultSchema } from './shown.ts';

/** For a caller who is not a member, in the same words whether there is such a vault or not. */
export const noSuchVault = refuse.badRequest('There is no such shared vault, or you are not a member of it.');
/** Likewise, for a caller whom the invite is neither to nor from. */
export const noSuchInvite = refuse.badRequest('There is no such invite, or it is not yours.');
export const notTheOwner = refuse.badRequest('Only the owner of the shared vault may do this.');

const by = z.string();
const byMember = z.object({ by });
const ofUser = z.object({ by, userUuid: z.string() });
const ofInvite = z.object({ by, inviteUuid: z.string() });
const done = answerSchema(z.object({}));
const inviteAnswer = answerSchema(z.object({ invite: vaultInviteSchema }));
/** The membership that the caller has begun, or ended. */
const membershipAnswer = answerSchema(z.object({ membership: z.number() }));

export { type VaultItemsChanged, vaultEventSchema } from './events.ts';

/** As many as one question may name. */
export const subscribersMax = membersMax;

/** Refusals: 400 throughout. */
export const Vault = contract({
  name: 'vault',
  event: vaultEventSchema,
  commands: {
    /** Makes a vault. Its id follows from the call. */
    create: {
      request: byMember,
      reply: answerSchema(
        z.object({ sharedVault: vaultSchema, sharedVaultUser: memberSchema, membership: z.number() }),
      ),
    },
    /** By its owner: it ends for everybody with this commit. */
    end: { request: byMember, reply: membershipAnswer },
    members: { request: byMember, reply: answerSchema(z.object({ users: z.array(memberSchema) })) },
    /** By its owner, or by a member who leaves. */
    removeMember: { request: ofUser, reply: membershipAnswer },
    /** By an admin. */
    designateSurvivor: { request: ofUser, reply: done },
    /** By its owner. One that the user has not answered is replaced. */
    invite: {
      request: z.object({
        by,
        recipientUuid: z.string(),
        encryptedMessage: z.string(),
        permission: z.enum(permissions),
      }),
      reply: inviteAnswer,
    },
    /** By who has sent it. */
    changeInvite: {
      request: z.object({
        by,
        inviteUuid: z.string(),
        encryptedMessage: z.string(),
        permission: z.enum(permissions).optional(),
      }),
      reply: inviteAnswer,
    },
    /** By the invitee, and again by one who is a member already. */
    acceptInvite: { request: ofInvite, reply: membershipAnswer },
    /** By the invitee or the sender. */
    endInvite: { request: ofInvite, reply: done },
    /** Those that the member has sent. None to others. */
    sentInvites: { request: byMember, reply: z.object({ invites: z.array(vaultInviteSchema) }) },
    /** All that the member has sent. */
    cancelInvites: { request: byMember, reply: z.object({}) },

    /**
     * By a gateway that has sockets of these users: which of them are members at this moment, with the numbers of their
     * memberships. If any is, the gateway is subscribed to this vault from then on.
     */
    subscribe: {
      request: z.object({ gateway: z.string(), users: z.array(z.string()).max(subscribersMax).readonly() }),
      reply: z.object({
        memberships: z.record(z.string(), z.number()),
        /** The incarnation of the host that events will come from; undefined where none will. */
        host: z.string().optional(),
      }),
    },

    // --- items, by members (docs/protocol/sync.md, "Items of vaults") -----------------------------------------

    saveItems: { request: saveItemsFields, reply: saveResultSchema },
    /** Items that come from another collection, which has prepared their transfer. */
    applyItemTransfer: { request: applyItemTransferFields, reply: saveResultSchema },
    /** `applied`: the items of the transfer that the target has. */
    finalizeItemTransfer: { request: finalizeItemTransferFields, reply: z.object({}) },
    /** One item, to the member who owns it. */
    getItem: {
      request: z.object({ by, uuid: z.string() }),
      reply: z.object({ item: fullItemSchema.nullable() }),
    },
    /** Leaves out what the caller may not read. */
    listRevisions: {
      request: z.object({ by, itemUuid: z.string() }),
      reply: z.object({ revisions: z.array(listedSchema).readonly() }),
    },
    getRevision: {
      request: z.object({ by, itemUuid: z.string(), id: z.string() }),
      reply: z.object({ revision: revisionSchema.nullable() }),
    },
    /** By the owner of the item. Nothing happens to an item that is not theirs, or not there. */
    deleteRevision: {
      request: z.object({ by, itemUuid: z.string(), id: z.string() }),
      reply: z.object({}),
    },

    // --- files, by members (docs/protocol/files.md, "Files of shared vaults") ---------------------------------

    /** Whether the member may have a token. Only to say so early: each use of it is looked at by itself. */
    mayUseFiles: { request: z.object({ by, writes: z.boolean() }), reply: done },
    ...byTokenShapes,
    /** See `actors/files/transfer.ts`. */
    prepareFileTransfer: byToken(
      { to: ownerSchema },
      z.union([
        z.object({ file: movingFileSchema, fromOwnerUuid: z.string() }),
        z.object({ isOver: z.literal(true) }),
      ]),
    ),
    /** `fromOwnerUuid`: in whose quota it has counted so far. */
    applyFileTransfer: byToken({ file: movingFileSchema, fromOwnerUuid: z.string() }, z.object({})),
    /** Whether it has moved by this. */
    finalizeFileTransfer: byToken({ applied: z.boolean() }, z.object({ moved: z.boolean() })),
  },
  tells: {
    /** By a user whose account is deleted. */
    userGone: z.null(),
    ...fileMoveTellShapes,
  },
  timers: {
    finalizeOverdueTransfer: finalizePayload,
    ...revisionTimerShapes,
    ...fileTimerShapes,
    /** The next of the items that a survivor has taken over (`items/hand-on.ts`). */
    handItemsOn: z.object({ after: z.int(), isAwaiting: z.boolean() }),
    /** The next of the files of a vault that has ended. */
    eraseFiles: z.null(),
    /** It has ended a while ago. */
    tearDown: z.null(),
  },
  jobs: {
    ...fileJobShapes,
    /** It has ended: its items return to their owners. */
    returnToOwners: z.null(),
  },
});
