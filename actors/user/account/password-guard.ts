/**
 * Checks the password of a signed-in caller, and tells the `signin` actors what follows from it.
 *
 * A password could be guessed here as at sign-in, so attempts are counted the same way (docs/protocol/authentication.md,
 * "Attempts and lock-out"). The guard debits one before the hash, and returns it if the password is right. The account has
 * counters of its own. Anyone can lock an address from outside, and that must not keep its owner from changing the password or
 * deleting the account.
 */
import type { Turn, Workflow } from '../../../runtime/command.ts';
import type { AccountRow } from '../../identity/account-table.ts';
import { keyOfUser, PasswordHasher } from '../../identity/password-hasher.ts';
import { type Device, type GrantedSession, sessionUuidOf } from '../../identity/session.ts';
import { type SignInAddress, SigninKeys } from '../../identity/signin-keys.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { Signin } from '../../signin/contract.ts';
import { profileSlice } from '../profile.ts';

type GuardedAccount = Pick<AccountRow, 'user_uuid' | 'password_hash'>;

/** Undefined: the password is the account's. Otherwise `wrong`, or 423 after too many wrong ones. */
export async function passwordIs(
  workflow: Pick<Workflow, 'use' | 'actors'>,
  account: GuardedAccount,
  password: string,
  wrong: Refused,
): Promise<Refused | undefined> {
  const guard = workflow.actors.get(Signin, workflow.use(SigninKeys).guardId(account.user_uuid));
  const debited = await guard.ask.debit({});
  if (isRefused(debited)) return debited;
  const isRight = await workflow
    .use(PasswordHasher)
    .verify(account.password_hash, password, keyOfUser(account.user_uuid));
  return isRight ? undefined : wrong;
}

const passwordMissing = refuse.badRequest('Please update your application to the latest version.');
export const wrongServerPassword = refuse.badRequest(
  'The password you entered is incorrect. Please try again.',
);

/** The same for the password in `x-server-password`, with the messages that clients know. */
export async function serverPasswordIs(
  workflow: Pick<Workflow, 'use' | 'actors'>,
  account: GuardedAccount,
  password: string | undefined,
): Promise<Refused | undefined> {
  if (password === undefined || password === '') return passwordMissing;
  return passwordIs(workflow, account, password, wrongServerPassword);
}

type NamedAccount = Pick<AccountRow, 'user_uuid' | 'identifier' | 'workspace'>;

/**
 * Call in the turn after a right password that opens a session. It also gives back the attempts at sign-in, and makes the
 * caller's network and device known at the address.
 */
export function resetAttempts(
  turn: Turn,
  account: NamedAccount,
  { ipAddress }: Pick<Device, 'ipAddress'>,
  granted: GrantedSession,
): void {
  const keys = turn.use(SigninKeys);
  const signin = turn.tell(Signin, keys.actorId(addressOf(account)));
  signin.reset();
  signin.recognise({ ipAddress, sessionUuid: sessionUuidOf(granted) });
  returnAttempts(turn, account);
}

/** Call in the turn after a right password that opens no session. It gives back the account's own attempts alone. */
export function returnAttempts(turn: Turn, { user_uuid }: Pick<NamedAccount, 'user_uuid'>): void {
  turn.tell(Signin, turn.use(SigninKeys).guardId(user_uuid)).reset();
}

/** Call in the turn in which the account gives up an address. */
export function forgetAddress(turn: Turn, account: NamedAccount): void {
  const keys = turn.use(SigninKeys);
  turn.tell(Signin, keys.actorId(addressOf(account))).forget();
  returnAttempts(turn, account);
}

/** Makes sign-ins in progress begin again, as the account asks for more now than when they began. */
export function restartSignIns(turn: Turn): void {
  const { email, workspace } = turn.get(profileSlice);
  turn.tell(Signin, turn.use(SigninKeys).actorId({ email, workspace })).forgetChallenges();
}

const addressOf = ({ identifier, workspace }: NamedAccount): SignInAddress => ({
  email: identifier,
  workspace,
});
