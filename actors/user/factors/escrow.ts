/**
 * What a client has left for the recovery of its account (docs/protocol/account.md, "Recovery of an account"):
 * ciphertext under a code that is never sent here. Stored as a setting, and removed by every change of
 * credentials.
 */
import { type View, workflow } from '../../../runtime/command.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';
import { Factors } from './contract.ts';
import { isUsableEscrow } from './usable-escrow.ts';

export const escrow = workflow({
  ...Factors.commands.escrow,
  // An unknown user is asked too, for the time it takes, and answered without an activation.
  run: async (workflow, { isNobody }) => (isNobody ? {} : workflow.turn({ turn: usable })),
});

function usable(view: View) {
  const { state, email, workspace } = view.get(profileSlice);
  const text = settingValue(view, 'ACCOUNT_RECOVERY_ESCROW');
  if (state !== 'active' || isBanned(view) || text === null || !isUsableEscrow(text)) return {};
  return { escrow: { escrow: text, identifier: email, workspace_identifier: workspace } };
}
