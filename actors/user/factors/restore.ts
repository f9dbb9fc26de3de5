/** What recovery codes do at a sign-in (docs/protocol/account.md, "Recovery codes"). */
import type { Turn } from '../../../runtime/command.ts';
import { removeSetting } from '../settings/stored.ts';
import { removeAllAuthenticators } from './authenticators.ts';
import { areRecoveryCodes, generateRecoveryCodes } from './recovery-codes.ts';
import { disableTotp } from './totp.ts';

/** Turns every second factor off and makes new codes. False: the codes are wrong, and nothing happens. */
export function restoreFactors(turn: Turn, codes: string): boolean {
  if (!areRecoveryCodes(turn, codes)) return false;
  disableTotp(turn);
  removeAllAuthenticators(turn);
  removeSetting(turn, 'MAGIC_LINK_ENABLED');
  generateRecoveryCodes(turn);
  return true;
}
