/** Makes the refusal of an unknown address look and last like that of an account. */
import type { Turn, Workflow } from '../../runtime/command.ts';
import type { AccountRow } from '../identity/account-table.ts';
import type { Device } from '../identity/session.ts';
import { type SignInAddress, SigninKeys } from '../identity/signin-keys.ts';
import { AuditTrail } from '../user/audit/contract.ts';

/**
 * Takes as many turns as the user's actor takes for an account. An unknown address has no such actor, and to activate one would
 * take a statement. Without these turns its answer would come sooner, and tell that there is no account.
 */
export async function takeTurnsOfUser(workflow: Workflow, turns: number): Promise<void> {
  for (let taken = 0; taken < turns; taken += 1) await workflow.turn({ turn: () => undefined });
}

/**
 * Notes a failed attempt in the account's audit trail. For an unknown address it writes the same to a user that does not exist, so
 * that the time of the answer shows nothing.
 */
export function auditFailedSignIn(
  turn: Turn,
  account: AccountRow | undefined,
  { device: { userAgent, ipAddress }, email, workspace }: SignInAddress & { readonly device: Device },
): void {
  const userUuid = account?.user_uuid ?? turn.use(SigninKeys).pseudoUser({ email, workspace });
  turn.tell(AuditTrail, userUuid).signInNoted({ event: 'sign-in-failed', from: { userAgent, ipAddress } });
}
