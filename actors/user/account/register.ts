/**
 * Registration (auth.md 7.1): a flow of the account's own new actor, whose id the gateway makes from the call, so
 * that a repeat of the call reaches the same actor.
 *
 *     checks  ->  is the address taken (a hint, to spare the hash)  ->  hash  ->  account and first session
 *
 * The address is unique on the whole server by the key of the `account` table: of two registrations at the same
 * moment one is refused at its commit and runs again knowing so. A crash before the last step leaves nothing of the
 * account; after it, a repeat of the call gets the recorded reply.
 */
import { z } from 'zod';
import { type Flow, type FlowCommand, flow, lookup, type Turn } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { passesCaptcha } from '../../signin/captcha.ts';
import { type Profile, profileSlice } from '../profile.ts';
import { type Refused, refusalSchema, refuse } from '../refusal.ts';
import { type Device, deviceSchema, openSession, sessionApiVersions } from '../sessions/issue.ts';
import { isValidUsername } from '../usernames.ts';
import { type AccountRow, accountTable, addressKey } from './account-table.ts';
import {
  fullKeyParams,
  isSupportedVersion,
  type SentKeyParams,
  sentKeyParamsSchema,
  storedKeyParams,
} from './key-params.ts';
import { resetAttempts } from './password-guard.ts';
import { type SignInReply, signInReply, signInReplySchema } from './sign-in-reply.ts';

export interface Registration {
  /** Normalised. */
  readonly email: string;
  readonly workspace: string;
  readonly password: string;
  readonly keyParams: SentKeyParams;
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly hvmToken?: string | undefined;
  readonly device: Device;
}

const registrationSchema: z.ZodType<Registration> = z.object({
  email: z.string(),
  workspace: z.string(),
  password: z.string(),
  keyParams: sentKeyParamsSchema,
  apiVersion: z.string(),
  ephemeral: z.boolean(),
  hvmToken: z.string().optional(),
  device: deviceSchema,
});

const disabled = refuse(400, 'User registration is currently not allowed.');
const captchaFailed = refuse(400, 'The captcha was not solved. Please try again.');
const unsupportedVersion = refuse(400, 'This version of the application is not supported. Please update it.');
const invalidUsername = refuse(
  400,
  'A username has 3 to 100 letters and digits, with single characters of . _ - @ + between them.',
);
export const takenUsername = refuse(400, 'This email is already registered.');

/** Errors: 400 for all that auth.md 7.1 names. */
export function registerCommand(services: UserServices): FlowCommand<Registration, SignInReply | Refused> {
  return flow({
    request: registrationSchema,
    reply: z.union([signInReplySchema, z.object({ refused: refusalSchema })]),
    creates: true,
    run: async (flow, registration) => {
      const refused = refusalOf(registration, services);
      if (refused !== undefined) return refused;
      if (!(await passesCaptcha(services.captcha, registration.hvmToken))) return captchaFailed;
      const before = await beforeHash(flow, registration);
      if (before !== undefined) return before;
      const passwordHash = await services.hasher.hash(registration.password);
      return flow.turn({
        recorded: true,
        turn: (turn) => createAccount(turn, services, registration, passwordHash),
      });
    },
  });
}

/**
 * Whether the address is taken, to spare the hash. A step that writes nothing is not recorded itself, but finds what
 * the last one recorded if this is a repeat of the call.
 */
function beforeHash(flow: Flow, registration: Registration): Promise<SignInReply | Refused | undefined> {
  return flow.turn({
    recorded: true,
    reads: () => ({ account: lookup(accountTable, [addressKey(registration)]) }),
    turn: (_turn, { account }) => (account.rows.length > 0 ? takenUsername : undefined),
  });
}

function refusalOf(
  { email, apiVersion, keyParams }: Registration,
  { settings }: UserServices,
): Refused | undefined {
  if (settings.registrationDisabled) return disabled;
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  if (!isSupportedVersion(keyParams.version ?? '004')) return unsupportedVersion;
  if (!isValidUsername(email)) return invalidUsername;
  return undefined;
}

function createAccount(
  turn: Turn,
  services: UserServices,
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
  if (turn.taken(accountTable, addressKey({ email, workspace })) !== undefined) return takenUsername;
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
  resetAttempts(turn, services, row);
  const issued = openSession(turn, services, {
    apiVersion,
    ephemeral,
    readonly: false,
    device,
  });
  return signInReply(turn.self.id, profile, fullKeyParams(row), issued);
}
