/**
 * The `vault` kind: one actor per shared vault. This contract has what concerns the vault as a whole: its end, its members, its
 * invites and its events. The contracts of its parts have the commands for items and files.
 *
 * The actor of a user checks their session and asks on their behalf, so the vault trusts `by`. All uuids are in lower case.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { permissions, vaultInviteSchema } from '../inbox-entries.ts';
import { answerSchema, refuse } from '../reply.ts';
import { memberSchema, vaultSchema } from './responses.ts';
import { membersMax } from './settings.ts';

/** For a caller who is not a member. The text does not reveal whether there is such a vault. */
export const noSuchVault = refuse.badRequest('There is no such shared vault, or you are not a member of it.');
/** The same for a caller who neither sent the invite nor got it. */
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

/** There is something to sync. */
const itemsChangedSchema = z.object({
  event: z.literal('items-changed'),
  timestamp: z.number(),
  /** The user who caused it is not told. If `session` is given, only that session is not told. */
  by: z.string().optional(),
  session: z.string().optional(),
});
export type VaultItemsChanged = z.infer<typeof itemsChangedSchema>;

/** This membership of the user has ended. Another may begin later. */
const memberRemovedSchema = z.object({
  event: z.literal('member-removed'),
  userUuid: z.string(),
  membership: z.number(),
});

/** What a vault publishes to the gateways that hold sockets of its members (docs/protocol/sockets.md, "Vaults"). */
export const vaultEventSchema = z.discriminatedUnion('event', [itemsChangedSchema, memberRemovedSchema]);

/** Users that one question may name, at most. */
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
    /** Called by its owner. The vault ends for everybody with this commit. */
    end: { request: byMember, reply: membershipAnswer },
    members: { request: byMember, reply: answerSchema(z.object({ users: z.array(memberSchema) })) },
    /** Called by its owner, or by a member who leaves. */
    removeMember: { request: ofUser, reply: membershipAnswer },
    /** Called by an admin. */
    designateSurvivor: { request: ofUser, reply: done },
    /** Called by its owner. An invite that the user has not answered is replaced. */
    invite: {
      request: z.object({
        by,
        recipientUuid: z.string(),
        encryptedMessage: z.string(),
        permission: z.enum(permissions),
      }),
      reply: inviteAnswer,
    },
    /** Called by its sender. */
    changeInvite: {
      request: z.object({
        by,
        inviteUuid: z.string(),
        encryptedMessage: z.string(),
        permission: z.enum(permissions).optional(),
      }),
      reply: inviteAnswer,
    },
    /** Called by the invitee. For a member it changes nothing. */
    acceptInvite: { request: ofInvite, reply: membershipAnswer },
    /** Called by the invitee or the sender. */
    endInvite: { request: ofInvite, reply: done },
    /** The invites that the member has sent. Others get none. */
    sentInvites: { request: byMember, reply: z.object({ invites: z.array(vaultInviteSchema) }) },
    /** Cancels all invites that the member has sent. */
    cancelInvites: { request: byMember, reply: z.object({}) },

    /**
     * Called by a gateway that has sockets of these users. Answers which of them are members, with the numbers of their
     * memberships. If any is, the gateway is subscribed to this vault from then on.
     */
    subscribe: {
      request: z.object({ gateway: z.string(), users: z.array(z.string()).max(subscribersMax).readonly() }),
      reply: z.object({
        memberships: z.record(z.string(), z.number()),
        /** The incarnation of the host that will send events; absent if none will. */
        host: z.string().optional(),
      }),
    },
  },
  tells: {
    /** Sent by a user whose account is deleted. */
    userGone: z.null(),
  },
  timers: {
    /** Removes what is left of a vault that ended a while ago. */
    tearDown: z.null(),
  },
});
