/** What clients and other actors ask of subscriptions, invites and features (docs/protocol/account.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { activatedSchema, premiumSchema } from '../../identity/signin-messages.ts';
import { answerSchema } from '../../reply.ts';
import { openToBridges, readsOf, writes } from '../../signed-in.ts';
import { featureSchema } from './features.ts';

const success = z.boolean();

/** Microseconds. */
const times = { endsAt: z.int(), createdAt: z.int(), updatedAt: z.int() };

const features = z.array(featureSchema).readonly();

/** The content of a subscription token, besides its user. */
const claims = z.object({ credentialsVersion: z.number(), endsSeconds: z.number() });
const byToken = <Ok>(ok: z.ZodType<Ok>) => ({ request: claims, reply: answerSchema(ok), ok });

const inviteUuid = z.string().max(64);

const invitation = z.object({
  uuid: z.string(),
  inviterIdentifier: z.string(),
  inviterIdentifierType: z.string(),
  inviteeIdentifier: z.string(),
  inviteeIdentifierType: z.string(),
  status: z.enum(['sent', 'canceled', 'accepted', 'declined']),
  subscriptionId: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});

const tokenCommands = {
  makeSubscriptionToken: writes({ ok: z.object({ token: z.string() }) }),
  /** The proof is a subscription token. Refusals: 401. */
  offlineSubscription: byToken(
    z.object({
      success,
      subscription: z.object({
        uuid: z.string(),
        email: z.string(),
        planName: z.string(),
        ...times,
        cancelled: z.boolean(),
        subscriptionId: z.int(),
      }),
    }),
  ),
  /** The proof is a subscription token. Refusals: 401. */
  offlineFeatures: byToken(z.object({ success, features, roles: z.array(z.string()) })),
};

const commands = {
  getSubscription: readsOf({
    ok: z.object({
      success,
      user: z.object({ uuid: z.string(), email: z.string() }),
      subscription: z.object({
        uuid: z.string(),
        planName: z.string(),
        ...times,
        renewedAt: z.int(),
        cancelled: z.boolean(),
        subscriptionId: z.int(),
        /** `shared`: the user has accepted the invite of another. */
        subscriptionType: z.enum(['regular', 'shared']),
        userUuid: z.string(),
      }),
    }),
  }),
  getFeatures: readsOf({ ok: z.object({ success, userUuid: z.string(), features }) }),

  // --- invites ------------------------------------------------------------------------------------------------

  /** Refusals: 400. */
  createInvite: writes({
    fields: z.object({ identifier: z.string().max(1_024) }),
    ok: z.object({ success, sharedSubscriptionInvitationUuid: z.string() }),
  }),
  /** The list names other people, so a read-only session is refused. */
  listInvites: writes({ ok: z.object({ invitations: z.array(invitation) }) }),
  /** The inviter cancels it by this, and the invitee declines it. Refusals: 400. */
  endInvite: writes({ fields: z.object({ inviteUuid }), ok: z.object({ success }) }),
  /** By the invitee. Refusals: 400. */
  declineInvite: writes({ fields: z.object({ inviteUuid }), ok: z.object({ success }) }),
  /** By the invitee. Refusals: 400. */
  acceptInvite: writes({ fields: z.object({ inviteUuid }), ok: z.object({ success }) }),

  /** Asked by the invitee's actor, which has checked who the invitee is. */
  answerInvite: {
    request: z.object({
      inviteUuid: z.string(),
      userUuid: z.string(),
      email: z.string(),
      answer: z.enum(['accepted', 'declined']),
    }),
    /** The id of the shared subscription. Absent: there is no such invite for them. */
    reply: z.object({ subscriptionId: z.int().optional() }),
  },

  // --- conformance runs ---------------------------------------------------------------------------------------

  /** Does nothing, unless the server is for conformance runs. */
  activatePremium: { request: premiumSchema, reply: activatedSchema },
};

const ofInvite = z.object({ inviteUuid: z.string() });

export const Subscription = contract({
  name: 'user',
  commands: { ...openToBridges(commands), ...tokenCommands },
  tells: {
    /** Tells the invitee that the invite is accepted. */
    subscriptionShared: ofInvite.extend({ subscriptionId: z.int() }),
    /** Tells the invitee that the subscription is no longer shared. */
    subscriptionUnshared: ofInvite,
    /** Tells the inviter that the owner of this address does not want it, or no longer does. */
    inviteLeft: ofInvite.extend({ email: z.string() }),

    /** A request for a subscription token for this address. */
    mailSubscriptionToken: z.object({ email: z.string() }),
  },
});
