/** Security keys, and approvals by other devices (docs/protocol/account.md). */
import { z } from 'zod';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { approvalStatusSchema } from '../../actors/identity/signin-messages.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Factors } from '../../actors/user/factors/contract.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from '../http/route.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { answered, endpoint, errorBodySchema, signedInAnswer } from './endpoint.ts';

export interface AuthenticatorRouteOptions {
  readonly settings: Pick<AccountSettings, 'workspacesPerEmail'>;
  readonly signinKeys: Pick<SigninKeys, 'actorId' | 'readApprovalId'>;
}

const tag = 'Two-factor';
const approvals = 'Trusted devices and push approvals';

const assertionRequest = z.object({
  username: emailField.min(1),
  workspace_identifier: workspaceField,
});

export function authenticatorRoutes({
  settings,
  signinKeys,
}: AuthenticatorRouteOptions): readonly AnyRoute[] {
  async function offerAssertion(
    { actors, ask, client: device }: RequestContext<'public'>,
    { username, workspace_identifier }: z.infer<typeof assertionRequest>,
  ): Promise<RouteReply> {
    const address = addressOf(settings, username, workspace_identifier);
    const signin = actors.get(Signin, signinKeys.actorId(address));
    const answer = await signin.ask.offerAssertion({ ...address, device }, ask);
    return answered(answer, (body) => ({ status: 200, body }));
  }

  /** The waiting device has no session yet, only its id. A signed-in device asks by the id on its screen. */
  async function approvalStatus(
    { actors, ask, credentials }: RequestContext<'optional-session'>,
    { challengeId }: { challengeId: string },
  ): Promise<RouteReply> {
    const named = signinKeys.readApprovalId(challengeId);
    const expired = { status: 200, body: { status: 'expired' } };
    if (named === undefined) {
      if (credentials === undefined) return expired;
      const answer = actors
        .get(Factors, credentials.userUuid)
        .ask.showApproval({ credentials, challengeId }, ask);
      return signedInAnswer(answer, (body) => ({ status: 200, body }));
    }
    try {
      const signin = actors.get(Signin, named.actorId);
      return { status: 200, body: await signin.ask.approvalStatus({ secret: named.secret }, ask) };
    } catch (error) {
      if (error instanceof NotFoundError) return expired;
      throw error;
    }
  }

  return [
    endpoint({
      method: 'GET',
      path: '/v1/authenticators',
      command: Factors.commands.listAuthenticators,
      summary: 'The security keys of the account.',
      tag,
    }),
    endpoint({
      method: 'GET',
      path: '/v1/authenticators/generate-registration-options',
      command: Factors.commands.offerAuthenticator,
      summary: 'What a browser needs to make a new security key.',
      tag,
      refusals: [400],
    }),
    endpoint({
      method: 'POST',
      path: '/v1/authenticators/verify-registration',
      command: Factors.commands.addAuthenticator,
      summary: 'Adds the security key that a browser has made.',
      tag,
      refusals: [400],
    }),
    route({
      method: 'POST',
      path: '/v1/authenticators/generate-authentication-options',
      access: 'public',
      summary: 'What a browser needs to sign in with a security key.',
      tag,
      request: assertionRequest,
      replies: { 200: z.object({ options: z.looseObject({}) }), 400: errorBodySchema },
      bodyLimit: 'small',
      handle: offerAssertion,
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/authenticators/:authenticatorUuid',
      command: Factors.commands.removeAuthenticator,
      summary: 'Removes a security key.',
      tag,
      refusals: [404],
    }),
    endpoint({
      method: 'GET',
      path: '/v1/pending-mfa-approvals',
      command: Factors.commands.listApprovals,
      summary: 'The sign-ins that wait for a device of the account.',
      tag: approvals,
    }),
    endpoint({
      method: 'POST',
      path: '/v1/pending-mfa-approvals/:challengeId/resolve',
      command: Factors.commands.resolveApproval,
      summary: 'Approves or denies a sign-in.',
      tag: approvals,
      refusals: [400],
    }),
    route({
      method: 'GET',
      path: '/v1/pending-mfa-approvals/:challengeId/status',
      access: 'optional-session',
      safe: true,
      summary: 'The status of an approval, for the device that waits for it and for those that may decide.',
      tag: approvals,
      request: z.object({ challengeId: z.string().max(256) }),
      replies: { 200: approvalStatusSchema, 401: errorBodySchema },
      handle: approvalStatus,
    }),
  ];
}
