/** What operators decide of accounts, sessions and items. `config.ts` fills these from the environment. */
import { dependency } from '../runtime/dependency.ts';

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

export const AccountSettings = dependency<AccountSettings>('the settings of accounts');

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

/** What item sync is told from outside. All sizes in bytes. */
export interface ItemSettings {
  /** Of the sync tokens this server gives out: random, as long as the database (see collection/token.ts). */
  readonly generation: string;
  /** `ITEM_CONTENT_LIMIT`: ciphertext of one item; beyond it `content_error`. */
  readonly contentLimitBytes: number;
  /** `CONTENT_SIZE_TRANSFER_LIMIT`: a page of a sync ends with the item that reaches this. */
  readonly transferLimitBytes: number;
  /** What one turn saves, so that no upload holds up the actor's other callers. */
  readonly turnLimits: { readonly items: number; readonly bytes: number };
}

export const ItemSettings = dependency<ItemSettings>('the settings of items');

export const defaultItemSettings: ItemSettings = {
  generation: 'default',
  contentLimitBytes: 16 * 1024 * 1024,
  transferLimitBytes: 10_000_000,
  turnLimits: { items: 300, bytes: 4 * 1024 * 1024 },
};
