/**
 * Turns off every second factor: by recovery codes at a sign-in (docs/protocol/account.md, "Recovery codes"), or by an operator for
 * users who have lost those too.
 */
import type { Turn, View } from '../../../runtime/command.ts';
import { audit } from '../audit/trail.ts';
import { removeSetting } from '../settings/stored.ts';
import { authenticatorMap, removeAllAuthenticators } from './authenticators.ts';
import { areCodesEmailed } from './emailed-codes.ts';
import { areRecoveryCodes, generateRecoveryCodes } from './recovery-codes.ts';
import { disableTotp, isTotpOn } from './totp.ts';
import { distrustAllDevices } from './trusted-devices.ts';

/** Turns every second factor off and makes new codes. False: the codes are wrong, and nothing happens. */
export function restoreFactors(turn: Turn, codes: string): boolean {
  if (!areRecoveryCodes(turn, codes)) return false;
  turnAllOff(turn);
  generateRecoveryCodes(turn);
  return true;
}

export interface FactorsOn {
  readonly authenticatorApp: boolean;
  readonly securityKeys: number;
  readonly emailedCodes: boolean;
}

export const factorsOn = (view: View): FactorsOn => ({
  authenticatorApp: isTotpOn(view),
  securityKeys: view.entries(authenticatorMap).size,
  emailedCodes: areCodesEmailed(view),
});

/**
 * For an operator: returns what was on before. The old recovery codes go too. Trusted devices end, as a lost one would stand in
 * for the user's next factor. App passwords stay, as programs still use them. The user can delete each.
 */
export function resetFactors(turn: Turn): FactorsOn {
  const before = factorsOn(turn);
  // These events name no device. Processes of an earlier release could not read a trail with a new name in it.
  if (before.authenticatorApp) audit(turn, 'authenticator-app-removed');
  for (const uuid of turn.entries(authenticatorMap).keys()) audit(turn, 'security-key-removed', null, uuid);
  if (before.emailedCodes) audit(turn, 'emailed-codes-off');
  turnAllOff(turn);
  distrustAllDevices(turn);
  return before;
}

function turnAllOff(turn: Turn): void {
  disableTotp(turn);
  removeAllAuthenticators(turn);
  removeSetting(turn, 'MAGIC_LINK_ENABLED');
}
