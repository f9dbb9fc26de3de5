/**
 * Checking the password of a caller who is signed in already. It could be guessed here as well as at a sign-in, so
 * attempts are counted alike: debited before the hash, given back when the password is right (auth.md 5.4). The
 * counters are the account's own and not those of its address: anybody can lock an address from outside, and that must
 * not keep its owner from changing the password or leaving.
 */
import type { Flow, Turn } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { lockedOut } from '../../signin/attempts.ts';
import { SigninGuard } from '../../signin/guard.ts';
import type { Refused } from '../refusal.ts';
import type { AccountRow } from './account-table.ts';

type Guarded = Pick<AccountRow, 'user_uuid' | 'password_hash'>;

/** Undefined when `password` is the account's; otherwise `wrong`, or 423 after too many wrong ones. */
export async function passwordIs(
  flow: Flow,
  { hasher, signinKeys }: UserServices,
  account: Guarded,
  password: string,
  wrong: Refused,
): Promise<Refused | undefined> {
  const guard = flow.actors.get(SigninGuard, signinKeys.guardId(account.user_uuid));
  const { locked } = await guard.ask.debit({});
  if (locked) return { refused: lockedOut };
  const isRight = await hasher.verify(account.password_hash, password);
  return isRight ? undefined : wrong;
}

/** To be called in the turn that the right password led to: the attempts at sign-ins are given back as well. */
export function resetAttempts(
  turn: Turn,
  { signinKeys }: UserServices,
  account: Pick<AccountRow, 'user_uuid' | 'identifier' | 'workspace'>,
): void {
  const address = { email: account.identifier, workspace: account.workspace };
  for (const id of [signinKeys.actorId(address), signinKeys.guardId(account.user_uuid)]) {
    turn.tell({ kind: 'signin', id }, 'reset', null);
  }
}
