/**
 * A change of password, e-mail or both (docs/protocol/authentication.md, "Change of credentials"):
 *
 *     begin   turn: the session, the path, and the row with the current hash
 *     guard   the `signin` actor of the address debits an attempt; locked: 423
 *     hash    outside any turn: the current password against its hash, then the new one
 *     change  turn: checks session and credentials against `begin`; writes row, profile and the new session
 *
 * A new password or e-mail ends every session, the caller's and ephemeral ones included. The sessions do not become "revoked":
 * a revoked client wipes its data, and these should ask for the new password. The tokens of protocol 001 to 003 depend on the
 * hash of the password, so any change ends them.
 *
 * Bridge tokens, trusted devices and the escrow end with any change. Second factors stay, and so do app passwords
 * (docs/decisions/0026-what-outlives-a-change-of-the-password.md).
 *
 * `change` is recorded. A repeat of the call has no session any more, and gets that reply at `begin`.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { slice } from '../../../runtime/slice.ts';
import { type AccountRow, accountKey, accountTable } from '../../identity/account-table.ts';
import {
  hasSessions,
  isVersion,
  missingKeyParam,
  protocolVersionOf,
  readKeyParams,
  storedKeyParams,
} from '../../identity/key-params.ts';
import { keyOfUser, PasswordHasher } from '../../identity/password-hasher.ts';
import {
  type GrantedSession,
  type SignInReply,
  sessionApiVersions,
  sessionUuidOf,
} from '../../identity/session.ts';
import { signInReply } from '../../identity/sign-in-reply.ts';
import { isValidUsername } from '../../identity/usernames.ts';
import { type Refused, refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import type { RaisedHooks } from '../hooks.ts';
import { noteMove } from '../notices.ts';
import { adminRoleSlice, type Profile, profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';
import { endAllSessions } from '../sessions/session.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { Account } from './contract.ts';
import { ownAccount } from './own-account.ts';
import { forgetAddress, passwordIs, resetAttempts, restartSignIns } from './password-guard.ts';

type CredentialsChange = z.infer<typeof Account.commands.changeCredentials.fields>;

export const notAllowed = refuse.unauthenticated('Operation not allowed.');
const unsupportedVersion = refuse.unauthenticated(
  'This version of the application is not supported. Please update it.',
);
const invalidEmail = refuse.unauthenticated('The new email is not valid.');
const emailInUse = refuse.unauthenticated('The email you entered is already taken. Please try again.');
const wrongPassword = refuse.unauthenticated(
  'The current password you entered is incorrect. Please try again.',
);

export const changeCredentials = (hooks: RaisedHooks) =>
  signedInWorkflow(Account.commands.changeCredentials, async (workflow, change) => {
    const before = await workflow.turn({
      recorded: true,
      reads: ownAccount,
      turn: (turn, { account }, { session }) => {
        const row = account.get({ user_uuid: turn.self.id });
        if (change.userUuid !== turn.self.id || row === undefined) return notAllowed;
        return refusalOf(change, row, revertsTo(turn, session.uuid)) ?? row;
      },
    });
    const refused = await passwordIs(workflow, before, change.currentPassword, wrongPassword);
    if (refused !== undefined) return refused;
    const passwordHash = await workflow
      .use(PasswordHasher)
      .hash(change.newPassword, keyOfUser(workflow.self.id));
    return workflow.lastTurn({
      recorded: true,
      turn: (turn) => applyChange(turn, hooks, { change, before, passwordHash }),
    });
  });

function refusalOf(
  { apiVersion, keyParams, newEmail }: CredentialsChange,
  row: AccountRow,
  revertsTo: string | undefined,
): Refused | undefined {
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  const before = readKeyParams(row).version;
  const version = protocolVersionOf(keyParams, before);
  const isWeaker = !hasSessions(version) && version < before && version !== revertsTo;
  if (!isVersion(version) || isWeaker) return unsupportedVersion;
  const missing = missingKeyParam(keyParams, version);
  if (missing !== undefined) return refuse.badRequest(`${missing} is missing.`);
  const isNewEmail = newEmail !== undefined && newEmail !== row.identifier;
  return isNewEmail && !isValidUsername(newEmail) ? invalidEmail : undefined;
}

const upgradeSchema = z
  .object({
    /** The session that the upgrade opened. */
    sessionUuid: z.string(),
    /** The protocol version before. */
    version: z.string(),
    untilMs: z.number(),
  })
  .nullable();

/**
 * The last upgrade of the protocol version. A client that cannot sync after it reverts it, with the passwords swapped. Only the
 * session of the upgrade may do that, and only for a while. Anyone else would make the account weaker.
 */
export const upgradeSlice = slice<Readonly<z.infer<typeof upgradeSchema>>>({
  name: 'upgrade',
  schema: upgradeSchema,
  initial: null,
});

const revertMs = 10 * 60_000;

function noteUpgrade(turn: Turn, before: string, after: string, granted: GrantedSession): void {
  const isUpgrade = !hasSessions(before) && hasSessions(after);
  if (isUpgrade) {
    const untilMs = turn.nowMs + revertMs;
    turn.set(upgradeSlice, { sessionUuid: sessionUuidOf(granted), version: before, untilMs });
  } else if (turn.get(upgradeSlice) !== null) turn.set(upgradeSlice, null);
}

/** The version that this session may go back to. */
function revertsTo(turn: Turn, sessionUuid: string): string | undefined {
  const upgrade = turn.get(upgradeSlice);
  const mayRevert = upgrade?.sessionUuid === sessionUuid && turn.nowMs < upgrade.untilMs;
  return mayRevert ? upgrade.version : undefined;
}

interface AppliedChange {
  readonly change: CredentialsChange;
  /** The row that the current password was checked with. */
  readonly before: AccountRow;
  readonly passwordHash: string;
}

function applyChange(
  turn: Turn,
  hooks: RaisedHooks,
  { change, before, passwordHash }: AppliedChange,
): SignInReply | Refused {
  const profile = turn.get(profileSlice);
  if (profile.credentialsVersion !== before.credentials_version) {
    throw new RetryableError('the credentials changed meanwhile', { outcome: 'none' });
  }
  const email = change.newEmail ?? profile.email;
  const address = accountKey({ email, workspace: profile.workspace });
  const conflicting = turn.conflicting(accountTable, address);
  if (conflicting !== undefined && conflicting.user_uuid !== turn.self.id) return emailInUse;
  const keyParams = storedKeyParams(change.keyParams, readKeyParams(before));
  const row: AccountRow = {
    ...before,
    ...address,
    password_hash: passwordHash,
    credentials_version: before.credentials_version + 1,
    key_params: JSON.stringify(keyParams),
  };
  const changed: Profile = {
    ...profile,
    email,
    protocolVersion: keyParams.version,
    credentialsVersion: row.credentials_version,
  };
  turn.put(accountTable, row);
  turn.set(profileSlice, changed);
  const hasMoved = email !== profile.email;
  for (const credentialsChanged of hooks('credentialsChanged')) credentialsChanged(turn, { email, hasMoved });
  if (hasMoved) {
    turn.set(adminRoleSlice, { ...turn.get(adminRoleSlice), hasMoved: true });
    forgetAddress(turn, before);
    noteMove(turn, profile.email);
    // A sign-in at the new address has not been asked for the second factor of this account.
    restartSignIns(turn);
  }
  const isSameSecret = change.newPassword === change.currentPassword && email === profile.email;
  if (!isSameSecret || !hasSessions(profile.protocolVersion)) endAllSessions(turn);
  const { apiVersion, device } = change;
  const newSession = { apiVersion, ephemeral: false, readonly: false, device };
  const granted = grantAccess(turn, changed.protocolVersion, newSession);
  noteUpgrade(turn, profile.protocolVersion, changed.protocolVersion, granted);
  audit(turn, email === profile.email ? 'password-changed' : 'email-changed', device);
  resetAttempts(turn, row, device, granted);
  return signInReply(row, changed, granted);
}
