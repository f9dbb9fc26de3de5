/** All that the gateway and the composition root may know of the domain: kinds by name, requests and replies. */
import type { Kind } from '../runtime/kind.ts';
import type { Services } from './services.ts';
import { createSigninKind } from './signin/signin.ts';
import { createUserKind } from './user/user.ts';

export {
  type AccountSettings,
  type CaptchaVerifier,
  defaultAccountSettings,
  type Services,
} from './services.ts';
export { createCaptchaVerifier } from './signin/captcha.ts';
export { createPasswordHasher, type PasswordHasher } from './signin/password-hasher.ts';
export { Signin, type SigninCommands } from './signin/signin.ts';
export { createSigninKeys, type SignInAddress, type SigninKeys } from './signin/signin-keys.ts';
export { isStorableText } from './storable-text.ts';
export { type KeyParams, keyParamsSchema, sentKeyParamsFields } from './user/account/key-params.ts';
export type { SignInReply } from './user/account/sign-in-reply.ts';
export { syncItems } from './user/items/ask.ts';
export { syncReplyJson } from './user/items/reply.ts';
export { integrityFields, itemFields, syncBody } from './user/items/request.ts';
export { defaultItemSettings, type ItemSettings } from './user/items/settings.ts';
export type { Caller, Role } from './user/profile.ts';
export { isRefused, type Refusal, type Refused } from './user/refusal.ts';
export { invalidAuth } from './user/sessions/check.ts';
export { type SessionEntry, sessionEntrySchema } from './user/sessions/commands.ts';
export {
  accessCookiePrefix,
  type Cookies,
  type Credentials,
  createSessionTokens,
  refreshCookiePrefix,
  type SessionTokens,
  secretsOf,
} from './user/sessions/credentials.ts';
export { type Device, sessionApiVersions, sessionBodySchema } from './user/sessions/issue.ts';
export type { SignedInReply, SignedInRequest } from './user/signed-in.ts';
export { type FrameEvent, itemsChanged, userEventSchema } from './user/sockets/events.ts';
export { User, type UserCommands } from './user/user.ts';
export { normaliseUsername, normaliseWorkspace } from './user/usernames.ts';

/** The kinds a host runs. */
export function createKinds(services: Services): readonly Kind[] {
  return [createUserKind(services), createSigninKind(services)];
}
