/** The second factors of an account (docs/protocol/account.md). */

import { type View, workflow } from '../../../runtime/command.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { AccountSettings, WebAuthnSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { isUsableEscrow } from '../settings/known.ts';
import { removeSetting, settingValue } from '../settings/stored.ts';
import { appPasswordCommands, appPasswordMap } from './app-passwords.ts';
import { approvalCommands, approvalRequestedTell } from './approvals.ts';
import { authenticatorCommands, authenticatorMap, authenticatorOfferSlice } from './authenticators.ts';
import { authenticatorsOf, checkFactors } from './check-factors.ts';
import { Factors } from './contract.ts';
import { canMailCodes, emailedCodeCommands, mailCodeTell } from './emailed-codes.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { offerTotpSecret, totpSlice } from './totp.ts';
import { distrustAllDevices, trustedDeviceCommands, trustedDeviceMap } from './trusted-devices.ts';

/**
 * Gives what a client has left for the recovery of its account (docs/protocol/account.md, "Recovery of an account"): ciphertext
 * under a code that never comes here.
 */
const escrow = workflow(Factors.commands.escrow, async (workflow, { isNobody }) =>
  // An unknown user is asked for too, because of the time it takes, and gets an answer without an activation.
  isNobody ? {} : workflow.turn({ turn: usable }),
);

function usable(view: View) {
  const { state, email, workspace } = view.get(profileSlice);
  const text = settingValue(view, 'ACCOUNT_RECOVERY_ESCROW');
  if (state !== 'active' || isBanned(view) || text === null || !isUsableEscrow(text)) return {};
  return { escrow: { escrow: text, identifier: email, workspace_identifier: workspace } };
}

export const factors = userPart(Factors, {
  name: 'factors',
  uses: [AccountSettings, SigninKeys, UserSecrets, WebAuthnSettings],
  slices: [totpSlice, appPasswordMap, authenticatorMap, authenticatorOfferSlice, trustedDeviceMap],
  commands: {
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
  },
  tells: { approvalRequested: approvalRequestedTell, mailCode: mailCodeTell },
  on: {
    // The other factors stay: the account must not come out of a ban less protected than before.
    banned: distrustAllDevices,
    credentialsChanged: (turn, { email, hasMoved }) => {
      // The escrow wraps keys that the new credentials replace.
      removeSetting(turn, 'ACCOUNT_RECOVERY_ESCROW');
      distrustAllDevices(turn);
      // Otherwise nobody could sign in any more.
      if (hasMoved && !canMailCodes(email)) removeSetting(turn, 'MAGIC_LINK_ENABLED');
    },
  },
});
