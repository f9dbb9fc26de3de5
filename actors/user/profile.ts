/** The address, the state and the roles of an account, as its own actor knows them. */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { defaultWorkspace } from '../identity/usernames.ts';
import { type Caller, type Role, refuse } from '../reply.ts';
import { AccountSettings } from '../settings.ts';

const profileSchema = z.object({
  /** `none` before registration; `deleted` until the last rows of a deleted account are gone. */
  state: z.enum(['none', 'active', 'deleted']),
  /** Normalised; empty unless active. */
  email: z.string(),
  workspace: z.string(),
  /** The version of the client's protocol. */
  protocolVersion: z.string(),
  /** Grows with each change of password or e-mail, so that a sign-in sees that it checked older credentials. */
  credentialsVersion: z.number(),
  createdAtMs: z.number(),
});
export type Profile = Readonly<z.infer<typeof profileSchema>>;

export const noProfile: Profile = {
  state: 'none',
  email: '',
  workspace: '',
  protocolVersion: '',
  credentialsVersion: 0,
  createdAtMs: 0,
};

/** Sign-ins read the `account` table instead: they have no actor yet. */
export const profileSlice = slice<Profile>({
  name: 'profile',
  schema: profileSchema,
  initial: noProfile,
});

export const isActive = (view: View): boolean => view.get(profileSlice).state === 'active';

const banSchema = z.object({ atMs: z.number(), reason: z.string().nullable() }).nullable();

export const banReasonCharactersMax = 1_024;

/** The ban of the account, if there is one (docs/protocol/authentication.md, "Banned accounts"). */
export const banSlice = slice<Readonly<z.infer<typeof banSchema>>>({
  name: 'ban',
  schema: banSchema,
  initial: null,
});

export const isBanned = (view: View): boolean => view.get(banSlice) !== null;

/** While it is not, no secret opens the account, and nothing leaves it. */
export const isInUse = (view: View): boolean => isActive(view) && !isBanned(view);

// --- roles -------------------------------------------------------------------------------------------------

/*
 * The roles of an account (docs/protocol/authentication.md, "Roles"). Every account has full access, and some are
 * administrators.
 *
 * An operator decides who is an administrator. Until then it follows from `ADMIN_EMAILS`: an account of the default workspace
 * that was registered with such an address is one. To move to such an address later has no effect.
 */

const adminRoleSchema = z.object({
  /** The decision of an operator; null before there is one. */
  administrator: z.boolean().nullable(),
  /** The account no longer has the address that it was registered with. */
  hasMoved: z.boolean(),
});
type AdminRole = Readonly<z.infer<typeof adminRoleSchema>>;

export const noAdminRole: AdminRole = { administrator: null, hasMoved: false };

export const adminRoleSlice = slice<AdminRole>({
  name: 'rank',
  schema: adminRoleSchema,
  initial: noAdminRole,
});

export function isAdministrator(view: View): boolean {
  const { administrator, hasMoved } = view.get(adminRoleSlice);
  if (administrator !== null) return administrator;
  const { email, workspace } = view.get(profileSlice);
  return !hasMoved && workspace === defaultWorkspace && view.use(AccountSettings).adminEmails.has(email);
}

export const adminRequired = refuse.forbidden('This needs an administrator.', 'admin-required');

const userRoles: readonly Role[] = [
  { uuid: 'scriptorium-CORE_USER', name: 'CORE_USER' },
  { uuid: 'scriptorium-PRO_USER', name: 'PRO_USER' },
];
const adminRoles: readonly Role[] = [
  ...userRoles,
  { uuid: 'scriptorium-INTERNAL_TEAM_USER', name: 'INTERNAL_TEAM_USER' },
];

/** The account as a reply names the one who made the call. */
export function callerOf(view: View): Caller {
  return { userUuid: view.self.id, roles: isAdministrator(view) ? adminRoles : userRoles };
}
