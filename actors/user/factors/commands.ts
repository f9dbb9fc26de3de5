/** The second factors of an account (docs/protocol/account.md). */
import { makeRecoveryCodes } from './recovery-codes.ts';
import { offerTotpSecret } from './totp.ts';

export const factorCommands = { offerTotpSecret, makeRecoveryCodes };
