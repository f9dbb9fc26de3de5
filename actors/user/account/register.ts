/**
 * Registration (docs/protocol/authentication.md, "Registration"): a workflow of the new account's own actor. The gateway makes
 * the id of that actor from the call, so a repeat of the call reaches the same actor.
 *
 *     checks  ->  is the address taken (a hint, to spare the hash)  ->  hash  ->  account and first session
 *
 * The key of the `account` table makes an address unique on the whole server. When two registrations race, the commit of one is
 * refused, and its turn runs again and finds the address taken. A crash before the last step leaves nothing. After it, a repeat
 * of the call gets the recorded reply.
 */
import type { z } from 'zod';
import { lookup, type Turn, type Workflow, workflow } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { type AccountRow, accountKey, accountTable } from '../../identity/account-table.ts';
import { CaptchaVerifier } from '../../identity/captcha.ts';
import {
  hasSessions,
  isVersion,
  missingKeyParam,
  protocolVersionOf,
  storedKeyParams,
} from '../../identity/key-params.ts';
import { keyOfUnknown, PasswordHasher } from '../../identity/password-hasher.ts';
import { type SignInReply, sessionApiVersions, sessionUuidOf } from '../../identity/session.ts';
import { signInReply } from '../../identity/sign-in-reply.ts';
import { isPrivateUsername, isValidUsername } from '../../identity/usernames.ts';
import { Instance, instanceId } from '../../instance/contract.ts';
import { type Answer, answerOf, type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import { type Profile, profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';
import { putSetting } from '../settings/stored.ts';
import { Account } from './contract.ts';
import { resetAttempts } from './password-guard.ts';

type Registration = z.infer<typeof Account.commands.register.request>;

const disabled = refuse.badRequest('User registration is currently not allowed.');
const captchaFailed = refuse.badRequest('The captcha was not solved. Please try again.');
const unsupportedVersion = refuse.badRequest(
  'This version of the application is not supported. Please update it.',
);
const invalidUsername = refuse.badRequest(
  'A username has 3 to 100 letters and digits, with single characters of . _ - @ + between them.',
);
const emailInUse = refuse.badRequest('This email is already registered.');

export const register = workflow(Account.commands.register, {
  creates: true,
  run: async (workflow, registration) => {
    const refused = refusalOf(registration, workflow.use(AccountSettings));
    if (refused !== undefined) return refused;
    if (await isClosed(workflow)) return disabled;
    if (!(await workflow.use(CaptchaVerifier).passes(registration.hvmToken))) return captchaFailed;
    const before = await beforeHash(workflow, registration);
    if (before !== undefined) return before;
    const key = keyOfUnknown(registration.device.ipAddress);
    const passwordHash = await workflow.use(PasswordHasher).hash(registration.password, key);
    return workflow.turn({
      recorded: true,
      turn: (turn) => answerOf(createAccount(turn, registration, passwordHash)),
    });
  },
});

/** An administrator has closed the registration. */
async function isClosed({ actors }: Pick<Workflow, 'actors'>): Promise<boolean> {
  const decided = await unlessAbsent(actors.get(Instance, instanceId).ask.registration({}));
  return decided?.disabled === true;
}

/**
 * Asks whether the address is taken, to spare the hash. The step writes nothing, so nothing is recorded for it. It is marked so
 * that a repeat of the call finds here what the last step recorded.
 */
function beforeHash(
  workflow: Workflow,
  registration: Registration,
): Promise<Answer<SignInReply> | undefined> {
  return workflow.turn({
    recorded: true,
    reads: () => ({ account: lookup(accountTable, [accountKey(registration)]) }),
    turn: (_turn, { account }) => (account.rows.length > 0 ? emailInUse : undefined),
  });
}

function refusalOf(
  { email, apiVersion, keyParams }: Registration,
  { registrationDisabled, endToEndTesting }: AccountSettings,
): Refused | undefined {
  if (registrationDisabled) return disabled;
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  const version = protocolVersionOf(keyParams);
  if (!isVersion(version)) return unsupportedVersion;
  // Their keys are derived too weakly for a new account. Test suites of clients make such accounts.
  if (!hasSessions(version) && !endToEndTesting) return unsupportedVersion;
  const missing = missingKeyParam(keyParams, version);
  if (missing !== undefined) return refuse.badRequest(`${missing} is missing.`);
  if (!isValidUsername(email)) return invalidUsername;
  return undefined;
}

function createAccount(
  turn: Turn,
  { email, workspace, keyParams, apiVersion, ephemeral, device }: Registration,
  passwordHash: string,
): SignInReply | Refused {
  if (turn.get(profileSlice).state !== 'none') return emailInUse;
  const stored = storedKeyParams(keyParams, { created: String(turn.nowMs) });
  const row: AccountRow = {
    user_uuid: turn.self.id,
    workspace,
    identifier: email,
    password_hash: passwordHash,
    credentials_version: 1,
    key_params: JSON.stringify(stored),
  };
  if (turn.conflicting(accountTable, accountKey({ email, workspace })) !== undefined) return emailInUse;
  turn.insert(accountTable, row);
  const profile: Profile = {
    state: 'active',
    email,
    workspace,
    protocolVersion: stored.version,
    credentialsVersion: row.credentials_version,
    createdAtMs: turn.nowMs,
  };
  turn.set(profileSlice, profile);
  if (isPrivateUsername(email)) putSetting(turn, 'LOG_SESSION_USER_AGENT', 'disabled');
  const newSession = { apiVersion, ephemeral, readonly: false, device };
  const granted = grantAccess(turn, profile.protocolVersion, newSession);
  audit(turn, 'registered', device, sessionUuidOf(granted));
  resetAttempts(turn, row, device, granted);
  return signInReply(row, profile, granted);
}
