import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';
import type { AccountSettings } from '../services.ts';

/** The account as its own actor knows it. What signing in needs from outside stands in the `account` table too. */
export interface Profile {
  /** `none` before registration; `deleted` until the last rows of a deleted account are gone. */
  readonly state: 'none' | 'active' | 'deleted';
  /** Normalised; empty unless active. */
  readonly email: string;
  readonly workspace: string;
  /** The client's protocol version, `004` or later. */
  readonly protocolVersion: string;
  /** Grows with every change of password or e-mail, so that a sign-in notices that it checked an older one. */
  readonly credentialsVersion: number;
  readonly createdAtMs: number;
}

export const noProfile: Profile = {
  state: 'none',
  email: '',
  workspace: '',
  protocolVersion: '',
  credentialsVersion: 0,
  createdAtMs: 0,
};

export const profileSlice = slice<Profile>({
  name: 'profile',
  format: 1,
  schema: z.object({
    state: z.enum(['none', 'active', 'deleted']),
    email: z.string(),
    workspace: z.string(),
    protocolVersion: z.string(),
    credentialsVersion: z.number(),
    createdAtMs: z.number(),
  }),
  initial: noProfile,
});

export interface Role {
  readonly uuid: string;
  readonly name: string;
}

/** Who made a call, for `meta.auth` of the reply. */
export interface Caller {
  readonly userUuid: string;
  readonly roles: readonly Role[];
}

export const callerSchema: z.ZodType<Caller> = z.object({
  userUuid: z.string(),
  roles: z.array(z.object({ uuid: z.string(), name: z.string() })).readonly(),
});

/** Every account has full access (auth.md 17.2); administrators are named by the operator. */
const userRoles: readonly Role[] = [
  { uuid: 'scriptorium-CORE_USER', name: 'CORE_USER' },
  { uuid: 'scriptorium-PRO_USER', name: 'PRO_USER' },
];
const adminRoles: readonly Role[] = [
  ...userRoles,
  { uuid: 'scriptorium-INTERNAL_TEAM_USER', name: 'INTERNAL_TEAM_USER' },
];

export function callerOf(userUuid: string, profile: Profile, settings: AccountSettings): Caller {
  return { userUuid, roles: settings.adminEmails.has(profile.email) ? adminRoles : userRoles };
}
