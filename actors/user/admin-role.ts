/**
 * Whether an account is an administrator's. Operators give and take that role. Until one decides, accounts of
 * the default workspace that were registered with an address in `ADMIN_EMAILS` have it; changing to such an
 * address has no effect.
 */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { defaultWorkspace } from '../identity/usernames.ts';
import { refuse } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import { profileSlice } from './profile.ts';
import { isBridge, type Session } from './sessions/session.ts';

export interface AdminRole {
  /** What an operator decided; null if none has. */
  readonly administrator: boolean | null;
  /** Its address is not the one it was registered with. */
  readonly hasMoved: boolean;
}

export const noAdminRole: AdminRole = { administrator: null, hasMoved: false };

export const adminRoleSlice = slice<AdminRole>({
  name: 'rank',
  format: 1,
  schema: z.object({ administrator: z.boolean().nullable(), hasMoved: z.boolean() }),
  initial: noAdminRole,
});

export function isAdministrator(view: View): boolean {
  const { administrator, hasMoved } = view.get(adminRoleSlice);
  if (administrator !== null) return administrator;
  const { email, workspace } = view.get(profileSlice);
  return !hasMoved && workspace === defaultWorkspace && view.use(AccountSettings).adminEmails.has(email);
}

/** A bridge does nothing of what administrators do: it was given for items. */
export const mayAdminister = (view: View, { session }: { readonly session: Session }): boolean =>
  isAdministrator(view) && !isBridge(session);

export const adminRequired = refuse.forbidden('This needs an administrator.', 'admin-required');
