/**
 * The `vault` kind: one actor per shared vault. Here stands what belongs to the vault as a whole: its end, its members, its invites
 * and its events. What can be asked of its items and files stands in the contracts of those parts.
 *
 * The actor of a user checks their session and asks on their behalf, so `by` is to be trusted. All uuids come in lower case.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { permissions, vaultInviteSchema } from '../inbox-entries.ts';
import { answerSchema, refuse } from '../reply.ts';
import { membersMax } from './bounds.ts';
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

/** What a vault publishes to the gateways that hold sockets of its members (docs/protocol/sockets.md, "Vaults"). */
export const vaultEventSchema = z.discriminatedUnion('event', [itemsChangedSchema, memberRemovedSchema]);

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
  },
  tells: {
    /** By a user whose account is deleted. */
    userGone: z.null(),
  },
  timers: {
    /** It has ended a while ago. */
    tearDown: z.null(),
  },
});
