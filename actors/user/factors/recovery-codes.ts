/**
 * Recovery codes (docs/protocol/account.md, "Recovery codes"): one text that stands in for a lost second factor. It replaces no
 * password, and opens no key.
 */
import type { Turn, View } from '../../../runtime/command.ts';
import { equalInConstantTime } from '../../identity/session-tokens.ts';
import { ownAccount, ownRow } from '../account/own-account.ts';
import { returnAttempts, serverPasswordIs } from '../account/password-guard.ts';
import { audit } from '../audit/trail.ts';
import { putSetting, settingValue } from '../settings/stored.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { Factors } from './contract.ts';

const codeBytes = 20;

/** Ten groups of four hexadecimal digits. Earlier codes no longer work. */
export function generateRecoveryCodes(turn: Turn): string {
  const digits = turn.random.bytes(codeBytes).toString('hex').toUpperCase();
  const codes = digits.match(/.{4}/g)?.join(' ') ?? '';
  putSetting(turn, 'RECOVERY_CODES', codes);
  return codes;
}

/** Compares without case. */
export function areRecoveryCodes(view: View, text: string): boolean {
  const codes = settingValue(view, 'RECOVERY_CODES');
  return codes !== null && equalInConstantTime(text.trim().toUpperCase(), codes);
}

export const makeRecoveryCodes = signedInWorkflow(
  Factors.commands.makeRecoveryCodes,
  async (workflow, { password }) => {
    const account = await workflow.turn({ recorded: true, reads: ownAccount, turn: ownRow });
    const refused = await serverPasswordIs(workflow, account, password);
    if (refused !== undefined) return refused;
    return workflow.lastTurn({
      recorded: true,
      turn: (turn, _reads, { session }) => {
        returnAttempts(turn, account);
        audit(turn, 'recovery-codes-made', session);
        return { recoveryCodes: generateRecoveryCodes(turn) };
      },
    });
  },
);
