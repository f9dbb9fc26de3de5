/** Subscription tokens and invites, and the endpoints that need only a token (docs/protocol/account.md). */

import { z } from 'zod';
import {
  invalidSubscriptionToken,
  type SubscriptionClaims,
} from '../../actors/identity/subscription-tokens.ts';
import type { Answer } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Subscription } from '../../actors/user/subscription/contract.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { answered, answeredOr, family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';
import { senderOf } from './sign-in-attempt.ts';

const { endpoint, route } = family({ tag: 'Subscriptions' });
const hasSuccessField = true;

const inviteRoutes = [
  endpoint('POST /v1/subscription-tokens', {
    command: Subscription.commands.makeSubscriptionToken,
    summary: 'A token that shows subscription and features without a session, for three hours.',
  }),
  endpoint('POST /v1/subscription-invites', {
    command: Subscription.commands.createInvite,
    summary: 'Invites an address to share the subscription.',
    refusals: [400],
    hasSuccessField,
  }),
  endpoint('GET /v1/subscription-invites', {
    command: Subscription.commands.listInvites,
    summary: 'The invites that the caller has sent.',
  }),
  endpoint('DELETE /v1/subscription-invites/:inviteUuid', {
    command: Subscription.commands.endInvite,
    summary: 'Cancels an invite, or declines one that was sent to the caller.',
    refusals: [400],
    hasSuccessField,
  }),
  endpoint('POST /v1/subscription-invites/:inviteUuid/accept', {
    command: Subscription.commands.acceptInvite,
    summary: 'Accepts an invite that was sent to the caller’s address.',
    refusals: [400],
    hasSuccessField,
  }),
  endpoint('POST /v1/subscription-invites/:inviteUuid/decline', {
    command: Subscription.commands.declineInvite,
    summary: 'Declines an invite that was sent to the caller’s address.',
    refusals: [400],
    hasSuccessField,
  }),
];

const mailed = z.object({ email: emailField.nullish(), workspace_identifier: workspaceField });
const missingEmail = {
  status: 400,
  tag: 'invalid-request',
  message: 'Please provide an email address.',
} as const;

const headers = ['x-subscription-token', 'x-offline-token'] as const;
const nothing = z.object({});

export function subscriptionRoutes({
  settings,
  signinKeys,
  subscriptionTokens,
}: RoutesOptions): readonly AnyRoute[] {
  /** Answers with the reply of the token's user. */
  const byToken =
    <Ok>(ask: (context: RequestContext<'public'>, claims: SubscriptionClaims) => Promise<Answer<Ok>>) =>
    async (context: RequestContext<'public'>): Promise<RouteReply> => {
      const [token = ''] = headers.map((name) => context.header(name)).filter((text) => text !== undefined);
      const claims = subscriptionTokens.verify(token);
      if (claims === undefined) return refusedAnswer(invalidSubscriptionToken);
      const replyOf = (body: Ok): RouteReply => ({ status: 200, body });
      return answeredOr(invalidSubscriptionToken, ask(context, claims), replyOf);
    };

  async function mailToken(
    context: RequestContext<'public'>,
    { email, workspace_identifier }: z.infer<typeof mailed>,
  ): Promise<RouteReply> {
    if (!email?.trim()) return refusedAnswer(missingEmail);
    const address = addressOf(settings, email, workspace_identifier);
    const signin = context.actors.get(Signin, signinKeys.actorId(address));
    const answer = await signin.ask.mailSubscriptionToken({ ...address, ...senderOf(context) }, context.ask);
    return answered(answer, () => ({ status: 200, body: { success: true } }));
  }

  return [
    ...inviteRoutes,
    route('POST /v1/offline/subscription-tokens', {
      access: 'public',
      summary: 'Mails a subscription token to the owner of an account of this address.',
      request: mailed,
      replies: { 200: z.object({ success: z.boolean() }) },
      refusals: [400, 429, 503],
      handle: mailToken,
    }),
    route('GET /v1/offline/users/subscription', {
      access: 'public',
      safe: true,
      summary: 'The subscription of the account that a subscription token was made for.',
      request: nothing,
      headers,
      replies: { 200: Subscription.commands.offlineSubscription.ok },
      refusals: [401],
      handle: byToken(({ actors, ask }, { userUuid, ...claims }) =>
        actors.get(Subscription, userUuid).ask.offlineSubscription(claims, ask),
      ),
    }),
    route('GET /v1/offline/features', {
      access: 'public',
      safe: true,
      summary: 'What the account may use that a subscription token was made for.',
      request: nothing,
      headers,
      replies: { 200: Subscription.commands.offlineFeatures.ok },
      refusals: [401],
      handle: byToken(({ actors, ask }, { userUuid, ...claims }) =>
        actors.get(Subscription, userUuid).ask.offlineFeatures(claims, ask),
      ),
    }),
  ];
}
