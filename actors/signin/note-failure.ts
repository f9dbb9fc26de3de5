import type { Turn } from '../../runtime/command.ts';
import type { AccountRow } from '../identity/account-table.ts';
import type { Device } from '../identity/session.ts';
import { type SignInAddress, SigninKeys } from '../identity/signin-keys.ts';
import { AuditTrail } from '../user/audit/contract.ts';

/**
 * Notes a failed attempt in the account's audit trail. For an unknown address it writes the same to a user that does not exist, so
 * that the time of the answer shows nothing.
 */
export function noteFailure(
  turn: Turn,
  account: AccountRow | undefined,
  { device: { userAgent, ipAddress }, email, workspace }: SignInAddress & { readonly device: Device },
): void {
  const userUuid = account?.user_uuid ?? turn.use(SigninKeys).pseudoUser({ email, workspace });
  turn.tell(AuditTrail, userUuid).signInNoted({ event: 'sign-in-failed', from: { userAgent, ipAddress } });
}
