/** Accounts: registration, change of credentials, deletion (docs/protocol/authentication.md), and their events. */
import { z } from 'zod';
import { sentKeyParamsSchema } from '../../actors/identity/key-params.ts';
import { normaliseUsername } from '../../actors/identity/usernames.ts';
import { derivedUuid } from '../../actors/identity/uuid-text.ts';
import { invalidAuth } from '../../actors/signed-in.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { AuditTrail } from '../../actors/user/audit/contract.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { answered, family, refusedAnswer, signedInAnswer } from './endpoint.ts';
import { refusingLostCookies } from './lost-cookies.ts';
import type { RoutesOptions } from './options.ts';
import { sessionAnswer, signInBodySchema } from './sign-in-answer.ts';

const secretText = z.string().min(1).max(1_024);

const registrationRequest = z.object({
  email: emailField.min(1),
  password: secretText,
  api: z.string().max(64).optional(),
  ephemeral: z.boolean().nullish(),
  hvm_token: z.string().max(8_192).nullish(),
  workspace_identifier: workspaceField,
  ...sentKeyParamsSchema.shape,
});

const credentialsRequest = z.object({
  userUuid: z.string(),
  current_password: secretText,
  new_password: secretText,
  new_email: emailField.nullish(),
  api: z.string().max(64).optional(),
  ...sentKeyParamsSchema.shape,
});

const deletionBody = z.object({ message: z.string() });

export function accountRoutes({ settings, cookies }: RoutesOptions): readonly AnyRoute[] {
  const { route } = family({ tag: 'Users' });
  const registrations: RateBucket = {
    name: 'registration',
    perMinute: settings.registrationsPerMinute,
    by: 'address',
  };

  async function register(
    { actors, ask, requestId, client }: RequestContext<'public'>,
    request: z.infer<typeof registrationRequest>,
  ): Promise<RouteReply> {
    const userUuid = newUserUuid(ask.callId ?? requestId);
    const reply = await actors.get(Account, userUuid).ask.register(
      {
        ...addressOf(settings, request.email, request.workspace_identifier),
        password: request.password,
        keyParams: sentKeyParamsSchema.parse(request),
        apiVersion: request.api ?? '',
        ephemeral: request.ephemeral ?? false,
        hvmToken: request.hvm_token ?? undefined,
        device: client,
      },
      ask,
    );
    return answered(reply, sessionAnswer(cookies));
  }

  function changeCredentials(
    { actors, credentials, ask, client }: RequestContext<'session'>,
    request: z.infer<typeof credentialsRequest>,
  ): Promise<RouteReply> {
    const { new_email } = request;
    const answer = actors.get(Account, credentials.userUuid).ask.changeCredentials(
      {
        credentials,
        userUuid: request.userUuid,
        currentPassword: request.current_password,
        newPassword: request.new_password,
        newEmail: new_email == null ? undefined : normaliseUsername(new_email),
        keyParams: sentKeyParamsSchema.parse(request),
        apiVersion: request.api ?? '',
        device: client,
      },
      ask,
    );
    return signedInAnswer(answer, sessionAnswer(cookies));
  }

  const registration = (path: string, summary: string) =>
    refusingLostCookies(
      cookies,
      route(`POST ${path}`, {
        access: 'public',
        summary,
        request: registrationRequest,
        replies: { 200: signInBodySchema },
        refusals: [400],
        ...(settings.registrationsPerMinute > 0 && { rate: registrations }),
        handle: register,
      }),
    );

  const credentialsChange = (path: string, summary: string) =>
    route(`PUT ${path}`, {
      access: 'session',
      summary,
      request: credentialsRequest,
      replies: { 200: signInBodySchema },
      refusals: [400, 401, 403, 423],
      handle: changeCredentials,
    });

  return [
    registration('/v1/users', 'Register an account and open its first session.'),
    registration('/auth', 'Legacy alias of POST /v1/users.'),
    credentialsChange(
      '/v1/users/:userUuid/attributes/credentials',
      'Change password, e-mail or both; all other sessions end.',
    ),
    credentialsChange('/v1/users/:userUuid/password', 'Legacy alias of the change of credentials.'),
    route('DELETE /v1/users/:userUuid', {
      access: 'session',
      summary: 'Delete the account and everything it holds; needs the header x-server-password.',
      request: z.object({ userUuid: z.string() }),
      replies: { 200: deletionBody },
      refusals: [400, 401, 403, 423],
      headers: ['x-server-password'],
      handle: deleteAccountReply,
    }),
  ];
}

export async function deleteAccountReply(
  context: RequestContext<'session'>,
  { userUuid }: { userUuid: string },
): Promise<RouteReply> {
  const { actors, credentials, ask } = context;
  const deleted = (): RouteReply => ({ status: 200, body: { message: 'Successfully deleted user.' } });
  const password = context.header('x-server-password');
  const deleting = actors
    .get(Account, credentials.userUuid)
    .ask.deleteAccount({ credentials, userUuid, password }, ask);
  const answer = await unlessAbsent(deleting);
  if (answer !== undefined) return answered(answer, deleted);
  // Its last rows are gone too. Only an account that existed has a token with a right MAC.
  return userUuid === credentials.userUuid ? deleted() : refusedAnswer(invalidAuth);
}

/** Derived from the call, so that a repeated registration reaches the account that the first attempt made. */
const newUserUuid = (callId: string): string => derivedUuid(`new user\u0000${callId}`);

/** The events of the account (docs/protocol/account.md, "Audit trail"). */
export const auditTrailRoutes: readonly AnyRoute[] = [
  family({ tag: 'Audit trail' }).endpoint('GET /v1/users/:userUuid/audit-trail', {
    command: AuditTrail.commands.getAuditTrail,
    summary: 'Sign-ins, devices, factors, tokens and what operators did, the newest first.',
    refusals: [400],
  }),
];
