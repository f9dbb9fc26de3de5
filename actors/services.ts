/** What the domain is given from outside: keys, settings and ports. `main.ts` fills these from the configuration. */
import type { AccountSettings, ItemSettings } from './settings.ts';
import type { PasswordHasher } from './signin/password-hasher.ts';
import type { SigninKeys } from './signin/signin-keys.ts';
import type { SessionTokens } from './user/sessions/credentials.ts';

export { type AccountSettings, defaultAccountSettings } from './settings.ts';

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
