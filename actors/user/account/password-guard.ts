/**
 * Checking the password of a caller who is signed in already. It could be guessed here as well as at a sign-in, so
 * the same counters guard it: debited before the hash, given back when the password is right (auth.md 5.4).
 */
import type { Flow, Turn } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { lockedOut } from '../../signin/attempts.ts';
import { SigninGuard } from '../../signin/guard.ts';
import type { SignInAddress } from '../../signin/signin-keys.ts';
import type { Refused } from '../refusal.ts';
import type { AccountRow } from './account-table.ts';

type Guarded = Pick<AccountRow, 'identifier' | 'workspace' | 'password_hash'>;

/** Undefined when `password` is the account's; otherwise `wrong`, or 423 while the address is locked. */
export async function passwordIs(
  flow: Flow,
  { hasher, signinKeys }: UserServices,
  account: Guarded,
  password: string,
  wrong: Refused,
): Promise<Refused | undefined> {
  const guard = flow.actors.get(SigninGuard, signinKeys.actorId(addressOf(account)));
  const { locked } = await guard.ask.debit({});
  if (locked) return { refused: lockedOut };
  const isRight = await hasher.verify(account.password_hash, password);
  return isRight ? undefined : wrong;
}

/** To be called in the turn that the right password led to. */
export function resetAttempts(
  turn: Turn,
  { signinKeys }: UserServices,
  account: Pick<AccountRow, 'identifier' | 'workspace'>,
): void {
  turn.tell({ kind: 'signin', id: signinKeys.actorId(addressOf(account)) }, 'reset', null);
}

function addressOf({ identifier, workspace }: Pick<AccountRow, 'identifier' | 'workspace'>): SignInAddress {
  return { email: identifier, workspace };
}
