/** What the domain is given from outside: keys, settings and ports. `main.ts` fills these from the configuration. */
import type { PasswordHasher } from './signin/password-hasher.ts';
import type { SigninKeys } from './signin/signin-keys.ts';
import type { ItemSettings } from './user/items/settings.ts';
import type { SessionTokens } from './user/sessions/credentials.ts';

/** Settings of accounts and sessions; defaults are those of auth.md 19. Ages and lock-outs in milliseconds. */
export interface AccountSettings {
  /** `ACCESS_TOKEN_AGE` (given in seconds, as all of these). */
  readonly accessTokenAgeMs: number;
  /** `REFRESH_TOKEN_AGE` */
  readonly refreshTokenAgeMs: number;
  /** `SESSION_FRESHNESS_BUFFER`: an access expiry further away than age plus this is of a longer, older setting. */
  readonly sessionFreshnessBufferMs: number;
  /** `EPHEMERAL_SESSION_AGE`: how long an ephemeral session is kept after its last refresh. */
  readonly ephemeralSessionAgeMs: number;
  /** `COOLDOWN_SESSION_TOKENS_TTL`: how long a replaced pair still refreshes. */
  readonly replacedPairGraceMs: number;
  /** `MAX_LOGIN_ATTEMPTS`: failures before a captcha is asked for. */
  readonly plainAttemptsMax: number;
  /** `FAILED_LOGIN_LOCKOUT` */
  readonly plainLockoutMs: number;
  /** `MAX_CAPTCHA_LOGIN_ATTEMPTS`: further failures before the account is locked. */
  readonly captchaAttemptsMax: number;
  /** `FAILED_LOGIN_CAPTCHA_LOCKOUT` */
  readonly captchaLockoutMs: number;
  /** How long a code challenge waits for its verifier. */
  readonly challengeAgeMs: number;
  /** `DISABLE_USER_REGISTRATION` */
  readonly registrationDisabled: boolean;
  /** `WORKSPACES_PER_EMAIL_ENABLED` */
  readonly workspacesPerEmail: boolean;
  /** `READONLY_USERS`: normalised e-mail addresses. */
  readonly readonlyUsers: ReadonlySet<string>;
  /** `ADMIN_EMAILS`: normalised e-mail addresses. */
  readonly adminEmails: ReadonlySet<string>;
  /** `E2E_TESTING`: every session is of header style, whatever its api version says (auth.md 3.3). */
  readonly forceHeaderSessions: boolean;
}

const second = 1_000;

export const defaultAccountSettings: AccountSettings = {
  accessTokenAgeMs: 5_184_000 * second,
  refreshTokenAgeMs: 31_556_926 * second,
  sessionFreshnessBufferMs: 10 * second,
  ephemeralSessionAgeMs: 259_200 * second,
  replacedPairGraceMs: 120 * second,
  plainAttemptsMax: 6,
  plainLockoutMs: 3_600 * second,
  captchaAttemptsMax: 6,
  captchaLockoutMs: 86_400 * second,
  challengeAgeMs: 3_600 * second,
  registrationDisabled: false,
  workspacesPerEmail: false,
  readonlyUsers: new Set(),
  adminEmails: new Set(),
  forceHeaderSessions: false,
};

/** Asks the captcha server whether a token passes (auth.md 5.4). Absent where none is configured. */
export interface CaptchaVerifier {
  verify(token: string): Promise<boolean>;
}

export interface UserServices {
  readonly settings: AccountSettings;
  readonly items: ItemSettings;
  readonly tokens: SessionTokens;
  readonly hasher: PasswordHasher;
  readonly signinKeys: SigninKeys;
  readonly captcha?: CaptchaVerifier | undefined;
}

export interface SigninServices {
  readonly settings: AccountSettings;
  readonly hasher: PasswordHasher;
  readonly signinKeys: SigninKeys;
  readonly captcha?: CaptchaVerifier | undefined;
}

export type Services = UserServices & SigninServices;
