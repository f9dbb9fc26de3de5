/**
 * A change of password, e-mail or both (docs/protocol/authentication.md, "Change of credentials"):
 *
 *     begin   turn: the session, the path, and the row with the current hash
 *     guard   the `signin` actor of the address debits an attempt; locked: 423
 *     hash    outside any turn: the current password against its hash, then the new one
 *     change  turn: are session and credentials still those of `begin`; writes row, profile and the new session
 *
 * Where password or e-mail changed, every other session ends with it, the caller's and ephemeral ones included. They
 * are not remembered as revoked: a revoked client wipes its data, these should ask for the new password. The tokens of
 * an account of protocol 001 to 003 are bound to the hash of the password and end with it whatever changed. Bridge
 * tokens, trusted devices and the escrow end with any change; what the account has as a second factor, app passwords
 * included, stays (docs/decisions/0026-what-outlives-a-change-of-the-password.md).
 *
 * `change` is recorded, and a repeat of the call, whose session is gone by then, finds that reply at `begin`.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { slice } from '../../../runtime/slice.ts';
import { type AccountRow, accountTable, addressKey } from '../../identity/account-table.ts';
import {
  hasSessions,
  isVersion,
  missingKeyParam,
  readKeyParams,
  type SentKeyParams,
  storedKeyParams,
  versionOf,
} from '../../identity/key-params.ts';
import { keyOfUser, PasswordHasher } from '../../identity/password-hasher.ts';
import {
  type Device,
  type Granted,
  type SignInReply,
  sessionApiVersions,
  sessionUuidOf,
} from '../../identity/session.ts';
import { signInReply } from '../../identity/sign-in-reply.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { isValidUsername } from '../../identity/usernames.ts';
import { type Refused, refuse } from '../../reply.ts';
import { Signin } from '../../signin/contract.ts';
import { adminRoleSlice } from '../admin-role.ts';
import { audit } from '../audit/trail.ts';
import type { RaisedHooks } from '../hooks.ts';
import { noteMove } from '../notices.ts';
import { type Profile, profileSlice } from '../profile.ts';
import { endAllSessions } from '../sessions/end.ts';
import { grantAccess } from '../sessions/issue.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { Account } from './contract.ts';
import { ownAccount } from './own-account.ts';
import { forgetAddress, passwordIs, resetAttempts } from './password-guard.ts';

interface CredentialsChange {
  readonly userUuid: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly newEmail?: string | undefined;
  readonly keyParams: SentKeyParams;
  readonly apiVersion: string;
  readonly device: Device;
}

export const notAllowed = refuse.unauthenticated('Operation not allowed.');
const unsupportedVersion = refuse.unauthenticated(
  'This version of the application is not supported. Please update it.',
);
const invalidEmail = refuse.unauthenticated('The new email is not valid.');
const takenEmail = refuse.unauthenticated('The email you entered is already taken. Please try again.');
const wrongPassword = refuse.unauthenticated(
  'The current password you entered is incorrect. Please try again.',
);

export const changeCredentials = (hooks: RaisedHooks) =>
  signedInWorkflow({
    ...Account.commands.changeCredentials,
    run: async (workflow, change) => {
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
        turn: (turn) => applyChange(turn, hooks, change, before, passwordHash),
      });
    },
  });

function refusalOf(
  { apiVersion, keyParams, newEmail }: CredentialsChange,
  row: AccountRow,
  revertsTo: string | undefined,
): Refused | undefined {
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  const before = readKeyParams(row).version;
  const version = versionOf(keyParams, before);
  const isWeaker = !hasSessions(version) && version < before && version !== revertsTo;
  if (!isVersion(version) || isWeaker) return unsupportedVersion;
  const missing = missingKeyParam(keyParams, version);
  if (missing !== undefined) return refuse.badRequest(`${missing} is missing.`);
  const isNewEmail = newEmail !== undefined && newEmail !== row.identifier;
  return isNewEmail && !isValidUsername(newEmail) ? invalidEmail : undefined;
}

/**
 * A client that cannot sync after its upgrade takes the upgrade back, with the passwords swapped. Nobody else may make an
 * account weaker: neither another session nor, later, the same one.
 */
interface Upgrade {
  /** That the upgrade opened. */
  readonly sessionUuid: string;
  /** The protocol version before. */
  readonly version: string;
  readonly untilMs: number;
}

const revertMs = 10 * 60_000;

export const upgradeSlice = slice<Upgrade | null>({
  name: 'upgrade',
  format: 1,
  schema: z.object({ sessionUuid: z.string(), version: z.string(), untilMs: z.number() }).nullable(),
  initial: null,
});

function noteUpgrade(turn: Turn, before: string, after: string, granted: Granted): void {
  const isUpgrade = !hasSessions(before) && hasSessions(after);
  if (isUpgrade) {
    const untilMs = turn.nowMs + revertMs;
    turn.set(upgradeSlice, { sessionUuid: sessionUuidOf(granted), version: before, untilMs });
  } else if (turn.get(upgradeSlice) !== null) turn.set(upgradeSlice, null);
}

/** The version that this session may take the account back to. */
function revertsTo(turn: Turn, sessionUuid: string): string | undefined {
  const upgrade = turn.get(upgradeSlice);
  const mayRevert = upgrade?.sessionUuid === sessionUuid && turn.nowMs < upgrade.untilMs;
  return mayRevert ? upgrade.version : undefined;
}

function applyChange(
  turn: Turn,
  hooks: RaisedHooks,
  change: CredentialsChange,
  before: AccountRow,
  passwordHash: string,
): SignInReply | Refused {
  const profile = turn.get(profileSlice);
  if (profile.credentialsVersion !== before.credentials_version) {
    throw new RetryableError('the credentials changed meanwhile', { outcome: 'none' });
  }
  const email = change.newEmail ?? profile.email;
  const address = addressKey({ email, workspace: profile.workspace });
  const taken = turn.conflicting(accountTable, address);
  if (taken !== undefined && taken.user_uuid !== turn.self.id) return takenEmail;
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
    // Nobody was asked for a second factor there before: what was stored would pass it.
    turn
      .tell(Signin, turn.use(SigninKeys).actorId({ email, workspace: profile.workspace }))
      .forgetChallenges();
  }
  const isSameSecret = change.newPassword === change.currentPassword && email === profile.email;
  if (!isSameSecret || !hasSessions(profile.protocolVersion)) endAllSessions(turn);
  const { apiVersion, device } = change;
  const wanted = { apiVersion, ephemeral: false, readonly: false, device };
  const granted = grantAccess(turn, changed.protocolVersion, wanted);
  noteUpgrade(turn, profile.protocolVersion, changed.protocolVersion, granted);
  audit(turn, email === profile.email ? 'password-changed' : 'email-changed', device);
  resetAttempts(turn, row, device, granted);
  return signInReply(row, changed, granted);
}
