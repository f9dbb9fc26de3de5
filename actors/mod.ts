/** All that the gateway and the composition root may know of the domain: kinds by name, requests and replies. */
import type { Kind } from '../runtime/kind.ts';
import type { Services } from './services.ts';
import { createUserKind } from './user/user.ts';

export {
  type AccountSettings,
  type CaptchaVerifier,
  defaultAccountSettings,
  type Services,
} from './services.ts';
export { createPasswordHasher, type PasswordHasher } from './signin/password-hasher.ts';
export { createSigninKeys, type SigninKeys } from './signin/signin-keys.ts';
export type { Caller, Role } from './user/profile.ts';
export { isRefused, type Refusal, type Refused } from './user/refusal.ts';
export {
  accessCookiePrefix,
  type Cookies,
  type Credentials,
  createSessionTokens,
  refreshCookiePrefix,
  type SessionTokens,
} from './user/sessions/credentials.ts';
export type { SignedInReply, SignedInRequest } from './user/signed-in.ts';
export { User, type UserCommands } from './user/user.ts';

/** The kinds a host runs. */
export function createKinds(services: Services): readonly Kind[] {
  return [createUserKind(services)];
}
