/**
 * The roles of an account (docs/protocol/authentication.md, "Roles"). Every account has full access, and some are
 * administrators.
 *
 * An operator decides who is an administrator. Until then it follows from `ADMIN_EMAILS`: an account of the default workspace
 * that was registered with such an address is one. To move to such an address later has no effect.
 */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { defaultWorkspace } from '../identity/usernames.ts';
import { type Caller, type Role, refuse } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import { profileSlice } from './profile.ts';
import { isBridge, type Session } from './sessions/session.ts';

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
  format: 1,
  schema: adminRoleSchema,
  initial: noAdminRole,
});

export function isAdministrator(view: View): boolean {
  const { administrator, hasMoved } = view.get(adminRoleSlice);
  if (administrator !== null) return administrator;
  const { email, workspace } = view.get(profileSlice);
  return !hasMoved && workspace === defaultWorkspace && view.use(AccountSettings).adminEmails.has(email);
}

/** A bridge never administers: the user gave it access to items alone. */
export const mayAdminister = (view: View, { session }: { readonly session: Session }): boolean =>
  isAdministrator(view) && !isBridge(session);

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
