/**
 * A change of password, e-mail or both (auth.md 8):
 *
 *     begin   turn: the session, the path, and the row with the present hash
 *     guard   the `signin` actor of the address debits an attempt; locked: 423
 *     hash    outside any turn: the present password against its hash, then the new one
 *     change  turn: are session and credentials still those of `begin`; writes row, profile and the new session
 *
 * Where password or e-mail changed, every other session ends with it, the caller's and ephemeral ones included. They
 * are not remembered as revoked: a revoked client wipes its data, these shall ask for the new password.
 *
 * `change` is recorded, and a repeat of the call, whose session is gone by then, finds that reply at `begin`.
 */
import { z } from 'zod';
import { type Flow, type FlowCommand, flow, keys, type Turn } from '../../../runtime/command.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import type { UserServices } from '../../services.ts';
import { type Caller, type Profile, profileSlice } from '../profile.ts';
import { isRefused, refuse } from '../refusal.ts';
import type { Credentials } from '../sessions/credentials.ts';
import { credentialsSchema } from '../sessions/credentials.ts';
import { endSessions } from '../sessions/end.ts';
import { type Device, deviceSchema, openSession, sessionApiVersions } from '../sessions/issue.ts';
import { sessionMap } from '../sessions/session.ts';
import { authenticate, type SignedInReply, signedInReplySchema } from '../signed-in.ts';
import { isValidUsername } from '../usernames.ts';
import { type AccountRow, accountTable, addressKey } from './account-table.ts';
import {
  fullKeyParams,
  isSupportedVersion,
  readKeyParams,
  type SentKeyParams,
  sentKeyParamsSchema,
  storedKeyParams,
} from './key-params.ts';
import { passwordIs, resetAttempts } from './password-guard.ts';
import { type SignInReply, signInReply, signInReplySchema } from './sign-in-reply.ts';

export interface CredentialsChange {
  readonly credentials: Credentials;
  /** Of the path; has to be the caller's own. */
  readonly userUuid: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  /** Normalised; absent: the address stays. */
  readonly newEmail?: string | undefined;
  readonly keyParams: SentKeyParams;
  readonly apiVersion: string;
  readonly device: Device;
}

const changeSchema: z.ZodType<CredentialsChange> = z.object({
  credentials: credentialsSchema,
  userUuid: z.string(),
  currentPassword: z.string(),
  newPassword: z.string(),
  newEmail: z.string().optional(),
  keyParams: sentKeyParamsSchema,
  apiVersion: z.string(),
  device: deviceSchema,
});

export const notAllowed = refuse(401, 'Operation not allowed.');
const unsupportedVersion = refuse(401, 'This version of the application is not supported. Please update it.');
const invalidEmail = refuse(401, 'The new email is not valid.');
const takenEmail = refuse(401, 'The email you entered is already taken. Please try again.');
const wrongPassword = refuse(401, 'The current password you entered is incorrect. Please try again.');

type Reply = SignedInReply<SignInReply>;

/** Errors: 401 and 403 of auth.md 8; 423 after too many wrong passwords. */
export function changeCredentialsCommand(services: UserServices): FlowCommand<CredentialsChange, Reply> {
  return flow({
    request: changeSchema,
    reply: signedInReplySchema(signInReplySchema),
    run: async (flow, change) => {
      const begun = await begin(flow, services, change);
      if ('refused' in begun || 'reply' in begun) return begun;
      const { caller, account } = begun;
      const refused = await passwordIs(flow, services, account, change.currentPassword, wrongPassword);
      if (refused !== undefined) return { caller, ...refused };
      const passwordHash = await services.hasher.hash(change.newPassword);
      return flow.turn({
        recorded: true,
        turn: (turn) => applyChange(turn, services, change, account, passwordHash),
      });
    },
  });
}

type Begun = { readonly caller: Caller; readonly account: AccountRow };

/** A step that writes nothing is not recorded itself, but finds what a later one of this call recorded. */
function begin(flow: Flow, { settings }: UserServices, change: CredentialsChange): Promise<Begun | Reply> {
  return flow.turn({
    recorded: true,
    reads: (view) => ({ account: keys(accountTable, [{ user_uuid: view.self.id }]) }),
    turn: (turn, { account }): Begun | Reply => {
      const signedIn = authenticate(turn, turn.nowMs, change.credentials, settings, true);
      if (isRefused(signedIn)) return signedIn;
      const { caller } = signedIn;
      const row = account.get({ user_uuid: turn.self.id });
      if (change.userUuid !== turn.self.id || row === undefined) return { caller, ...notAllowed };
      if (!sessionApiVersions.includes(change.apiVersion)) return { caller, ...unsupportedVersion };
      const { version } = change.keyParams;
      if (version !== undefined && !isSupportedVersion(version)) return { caller, ...unsupportedVersion };
      const isNewEmail = change.newEmail !== undefined && change.newEmail !== row.identifier;
      if (isNewEmail && !isValidUsername(change.newEmail)) return { caller, ...invalidEmail };
      return { caller, account: row };
    },
  });
}

function applyChange(
  turn: Turn,
  services: UserServices,
  change: CredentialsChange,
  before: AccountRow,
  passwordHash: string,
): Reply {
  const signedIn = authenticate(turn, turn.nowMs, change.credentials, services.settings, true);
  if (isRefused(signedIn)) return signedIn;
  const { caller } = signedIn;
  const profile = turn.get(profileSlice);
  if (profile.credentialsVersion !== before.credentials_version) {
    throw new RetryableError('the credentials changed meanwhile', { outcome: 'none' });
  }
  const email = change.newEmail ?? profile.email;
  const address = addressKey({ email, workspace: profile.workspace });
  const taken = turn.taken(accountTable, address);
  if (taken !== undefined && taken.user_uuid !== turn.self.id) return { caller, ...takenEmail };
  const keyParams = storedKeyParams(change.keyParams, readKeyParams(before.key_params));
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
  resetAttempts(turn, services, before);
  const isSameSecret = change.newPassword === change.currentPassword && email === profile.email;
  if (!isSameSecret) endAllSessions(turn);
  const issued = openSession(turn, services, {
    apiVersion: change.apiVersion,
    ephemeral: false,
    readonly: false,
    device: change.device,
  });
  return { caller, reply: signInReply(turn.self.id, changed, fullKeyParams(row), issued) };
}

export function endAllSessions(turn: Turn): void {
  endSessions(turn, turn.entries(sessionMap).keys());
}
