/** Second factors, app passwords, trusted devices, and approvals by other devices (docs/protocol/account.md). */
import { z } from 'zod';
import { approvalStatusSchema } from '../../actors/identity/signin-messages.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Factors } from '../../actors/user/factors/contract.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, missingEmail, workspaceField } from './address-fields.ts';
import { answered, family, refusedAnswer, signedInAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';
import { senderOf } from './sign-in-attempt.ts';

const appPasswords = family({ tag: 'App passwords' });
const trustedDevices = family({ tag: 'Trusted devices' });
const twoFactor = family({ tag: 'Two-factor' });
const approvals = family({ tag: 'Trusted devices and push approvals' });

const assertionRequest = z.object({
  username: emailField.min(1),
  workspace_identifier: workspaceField,
});

/** Clients send the address as `email` or `username`. */
const codeRequest = z.object({
  email: emailField.nullish(),
  username: emailField.nullish(),
  workspace_identifier: workspaceField,
});

const deviceRoutes: readonly AnyRoute[] = [
  appPasswords.endpoint('GET /v1/app-passwords', {
    command: Factors.commands.listAppPasswords,
    summary: 'The app passwords of the account, without the passwords.',
  }),
  appPasswords.endpoint('POST /v1/app-passwords', {
    command: Factors.commands.makeAppPassword,
    summary: 'Makes an app password and shows it only this once.',
    refusals: [400],
  }),
  appPasswords.endpoint('DELETE /v1/app-passwords/:appPasswordUuid', {
    command: Factors.commands.deleteAppPassword,
    summary: 'Deletes an app password.',
    refusals: [404],
  }),
  trustedDevices.endpoint('GET /v1/trusted-devices', {
    command: Factors.commands.listTrustedDevices,
    summary: 'The devices that need no second factor.',
  }),
  trustedDevices.endpoint('POST /v1/trusted-devices', {
    command: Factors.commands.trustDevice,
    summary: 'Makes a token with which a device needs no second factor, and shows it only this once.',
  }),
  trustedDevices.endpoint('DELETE /v1/trusted-devices/:trustedDeviceUuid', {
    command: Factors.commands.distrustDevice,
    summary: 'Stops trusting a device.',
    refusals: [404],
  }),
];

export function factorRoutes({ settings, signinKeys }: RoutesOptions): readonly AnyRoute[] {
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
    const { ask: waiting } = actors.get(Signin, named.actorId);
    const status = await unlessAbsent(waiting.approvalStatus({ secret: named.secret }, ask));
    return status === undefined ? expired : { status: 200, body: status };
  }

  async function requestCode(
    context: RequestContext<'public'>,
    { email, username, workspace_identifier }: z.infer<typeof codeRequest>,
  ): Promise<RouteReply> {
    const enteredEmail = email?.trim() || username?.trim();
    if (!enteredEmail) return refusedAnswer(missingEmail);
    const address = addressOf(settings, enteredEmail, workspace_identifier);
    const signin = context.actors.get(Signin, signinKeys.actorId(address));
    const answer = await signin.ask.requestCode({ ...address, ...senderOf(context) }, context.ask);
    return answered(answer, (body) => ({ status: 200, body }));
  }

  return [
    ...deviceRoutes,
    twoFactor.endpoint('GET /v1/authenticators', {
      command: Factors.commands.listAuthenticators,
      summary: 'The security keys of the account.',
    }),
    twoFactor.endpoint('GET /v1/authenticators/generate-registration-options', {
      command: Factors.commands.offerAuthenticator,
      summary: 'What a browser needs to make a new security key.',
      refusals: [400],
    }),
    twoFactor.endpoint('POST /v1/authenticators/verify-registration', {
      command: Factors.commands.addAuthenticator,
      summary: 'Adds the security key that a browser has made.',
      refusals: [400],
    }),
    twoFactor.route('POST /v1/authenticators/generate-authentication-options', {
      access: 'public',
      summary: 'What a browser needs to sign in with a security key.',
      request: assertionRequest,
      replies: { 200: z.object({ options: z.looseObject({}) }) },
      refusals: [400],
      handle: offerAssertion,
    }),
    twoFactor.endpoint('DELETE /v1/authenticators/:authenticatorUuid', {
      command: Factors.commands.removeAuthenticator,
      summary: 'Removes a security key.',
      refusals: [404],
    }),
    approvals.endpoint('GET /v1/pending-mfa-approvals', {
      command: Factors.commands.listApprovals,
      summary: 'The sign-ins that wait for a device of the account.',
    }),
    approvals.endpoint('POST /v1/pending-mfa-approvals/:challengeId/resolve', {
      command: Factors.commands.resolveApproval,
      summary: 'Approves or denies a sign-in.',
      refusals: [400],
    }),
    approvals.route('GET /v1/pending-mfa-approvals/:challengeId/status', {
      access: 'optional-session',
      safe: true,
      summary: 'The status of an approval, for the device that waits for it and for those that may decide.',
      request: z.object({ challengeId: z.string().max(256) }),
      replies: { 200: approvalStatusSchema },
      refusals: [401],
      handle: approvalStatus,
    }),
    twoFactor.route('POST /v1/mfa/magic-link/request', {
      access: 'public',
      summary: 'Mails a code to an address whose account asks for one at sign-in.',
      request: codeRequest,
      replies: { 200: z.object({ emailed: z.boolean() }) },
      refusals: [400, 429, 503],
      handle: requestCode,
    }),
    twoFactor.endpoint('GET /v1/mfa/magic-link/status', {
      command: Factors.commands.showEmailedCodes,
      summary: 'Whether the account asks for a code by e-mail at sign-in.',
    }),
    twoFactor.endpoint('POST /v1/mfa/magic-link/status', {
      command: Factors.commands.switchEmailedCodes,
      summary: 'Turns codes by e-mail on or off.',
      refusals: [400],
    }),
  ];
}
