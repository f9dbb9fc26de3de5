/**
 * Registration (docs/protocol/authentication.md, "Registration"): a workflow of the account's own new actor, whose id
 * the gateway makes from the call, so that a repeat of the call reaches the same actor.
 *
 *     checks  ->  is the address taken (a hint, to spare the hash)  ->  hash  ->  account and first session
 *
 * The address is unique on the whole server by the key of the `account` table: of two registrations at the same
 * moment one is refused at its commit and runs again knowing so. A crash before the last step leaves nothing of the
 * account; after it, a repeat of the call gets the recorded reply.
 */
import { lookup, type Turn, type Workflow, workflow } from '../../../runtime/command.ts';
import { type AccountRow, accountTable, addressKey } from '../../identity/account-table.ts';
import { CaptchaVerifier } from '../../identity/captcha.ts';
import {
  hasSessions,
  isVersion,
  missingKeyParam,
  type SentKeyParams,
  storedKeyParams,
  versionOf,
} from '../../identity/key-params.ts';
import { keyOfStranger, PasswordHasher } from '../../identity/password-hasher.ts';
import { type Device, type SignInReply, sessionApiVersions, sessionUuidOf } from '../../identity/session.ts';
import { signInReply } from '../../identity/sign-in-reply.ts';
import { isPrivateUsername, isValidUsername } from '../../identity/usernames.ts';
import { Instance, instanceId } from '../../instance/contract.ts';
import { type Answer, answerOf, type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { unlessAbsent } from '../../unless-absent.ts';
import { audit } from '../audit/trail.ts';
import { type Profile, profileSlice } from '../profile.ts';
import { grantAccess } from '../sessions/issue.ts';
import { putSetting } from '../settings/stored.ts';
import { Account } from './contract.ts';
import { resetAttempts } from './password-guard.ts';

interface Registration {
  readonly email: string;
  readonly workspace: string;
  readonly password: string;
  readonly keyParams: SentKeyParams;
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly hvmToken?: string | undefined;
  readonly device: Device;
}

const disabled = refuse.badRequest('User registration is currently not allowed.');
const captchaFailed = refuse.badRequest('The captcha was not solved. Please try again.');
const unsupportedVersion = refuse.badRequest(
  'This version of the application is not supported. Please update it.',
);
const invalidUsername = refuse.badRequest(
  'A username has 3 to 100 letters and digits, with single characters of . _ - @ + between them.',
);
const takenUsername = refuse.badRequest('This email is already registered.');

export const register = workflow({
  ...Account.commands.register,
  creates: true,
  run: async (workflow, registration) => {
    const refused = refusalOf(registration, workflow.use(AccountSettings));
    if (refused !== undefined) return refused;
    if (await isClosed(workflow)) return disabled;
    if (!(await workflow.use(CaptchaVerifier).passes(registration.hvmToken))) return captchaFailed;
    const before = await beforeHash(workflow, registration);
    if (before !== undefined) return before;
    const key = keyOfStranger(registration.device.ipAddress);
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
 * Whether the address is taken, to spare the hash. A step that writes nothing is not recorded itself, but finds what
 * the last one recorded if this is a repeat of the call.
 */
function beforeHash(
  workflow: Workflow,
  registration: Registration,
): Promise<Answer<SignInReply> | undefined> {
  return workflow.turn({
    recorded: true,
    reads: () => ({ account: lookup(accountTable, [addressKey(registration)]) }),
    turn: (_turn, { account }) => (account.rows.length > 0 ? takenUsername : undefined),
  });
}

function refusalOf(
  { email, apiVersion, keyParams }: Registration,
  { registrationDisabled, endToEndTesting }: AccountSettings,
): Refused | undefined {
  if (registrationDisabled) return disabled;
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  const version = versionOf(keyParams);
  if (!isVersion(version)) return unsupportedVersion;
  // Their keys are derived too weakly for a new account. Client suites make old accounts that way.
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
  if (turn.get(profileSlice).state !== 'none') return takenUsername;
  const stored = storedKeyParams(keyParams, { created: String(turn.nowMs) });
  const row: AccountRow = {
    user_uuid: turn.self.id,
    workspace,
    identifier: email,
    password_hash: passwordHash,
    credentials_version: 1,
    key_params: JSON.stringify(stored),
  };
  if (turn.conflicting(accountTable, addressKey({ email, workspace })) !== undefined) return takenUsername;
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
  const wanted = { apiVersion, ephemeral, readonly: false, device };
  const granted = grantAccess(turn, profile.protocolVersion, wanted);
  audit(turn, 'registered', device, sessionUuidOf(granted));
  resetAttempts(turn, row, device, granted);
  return signInReply(row, profile, granted);
}
