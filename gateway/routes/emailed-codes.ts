/** Codes by e-mail as a second factor (docs/protocol/account.md, "Codes by e-mail"). */
import { z } from 'zod';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Factors } from '../../actors/user/factors/contract.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from '../http/route.ts';
import { addressOf, emailField, missingEmail, workspaceField } from './address-fields.ts';
import { answered, endpoint, errorBodySchema, refusedAnswer } from './endpoint.ts';
import { senderOf } from './sign-in-attempt.ts';

export interface EmailedCodeRouteOptions {
  readonly settings: Pick<AccountSettings, 'workspacesPerEmail'>;
  readonly signinKeys: Pick<SigninKeys, 'actorId'>;
}

const tag = 'Two-factor';

/** Clients send the address as `email` or `username`. */
const codeRequest = z.object({
  email: emailField.nullish(),
  username: emailField.nullish(),
  workspace_identifier: workspaceField,
});

export function emailedCodeRoutes({ settings, signinKeys }: EmailedCodeRouteOptions): readonly AnyRoute[] {
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
    route({
      method: 'POST',
      path: '/v1/mfa/magic-link/request',
      access: 'public',
      summary: 'Mails a code to an address whose account asks for one at sign-in.',
      tag,
      request: codeRequest,
      replies: {
        200: z.object({ emailed: z.boolean() }),
        400: errorBodySchema,
        429: errorBodySchema,
        503: errorBodySchema,
      },
      bodyLimit: 'small',
      handle: requestCode,
    }),
    endpoint({
      method: 'GET',
      path: '/v1/mfa/magic-link/status',
      command: Factors.commands.showEmailedCodes,
      summary: 'Whether the account asks for a code by e-mail at sign-in.',
      tag,
    }),
    endpoint({
      method: 'POST',
      path: '/v1/mfa/magic-link/status',
      command: Factors.commands.switchEmailedCodes,
      summary: 'Turns codes by e-mail on or off.',
      tag,
      refusals: [400],
    }),
  ];
}
