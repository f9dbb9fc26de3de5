/**
 * What a client has left for the recovery of its account (docs/protocol/account.md, "Recovery of an account"): ciphertext under
 * a code that never comes here. It is stored as a setting, and every change of credentials removes it.
 */
import { type View, workflow } from '../../../runtime/command.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { isUsableEscrow } from '../settings/known.ts';
import { settingValue } from '../settings/stored.ts';
import { Factors } from './contract.ts';

export const escrow = workflow({
  ...Factors.commands.escrow,
  // An unknown user is asked for too, because of the time it takes, and gets an answer without an activation.
  run: async (workflow, { isNobody }) => (isNobody ? {} : workflow.turn({ turn: usable })),
});

function usable(view: View) {
  const { state, email, workspace } = view.get(profileSlice);
  const text = settingValue(view, 'ACCOUNT_RECOVERY_ESCROW');
  if (state !== 'active' || isBanned(view) || text === null || !isUsableEscrow(text)) return {};
  return { escrow: { escrow: text, identifier: email, workspace_identifier: workspace } };
}
