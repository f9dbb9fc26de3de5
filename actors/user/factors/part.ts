/** The second factors of an account (docs/protocol/account.md). */
import { appPasswordCommands } from './app-passwords.ts';
import { approvalCommands } from './approvals.ts';
import { authenticatorCommands } from './authenticators.ts';
import { authenticatorsOf, checkFactors } from './check-factors.ts';
import { emailedCodeCommands } from './emailed-codes.ts';
import { escrow } from './escrow.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { offerTotpSecret } from './totp.ts';
import { trustedDeviceCommands } from './trusted-devices.ts';

export const factorCommands = {
  offerTotpSecret,
  makeRecoveryCodes,
  ...approvalCommands,
  ...authenticatorCommands,
  ...emailedCodeCommands,
  checkFactors,
  escrow,
  authenticatorsOf,
  ...appPasswordCommands,
  ...trustedDeviceCommands,
};
