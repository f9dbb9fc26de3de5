/** The account as the one who makes a call (docs/protocol/authentication.md, "Roles"). */
import type { View } from '../../runtime/command.ts';
import type { Caller, Role } from '../reply.ts';
import { isAdministrator } from './admin-role.ts';

/** Every account has full access. */
const userRoles: readonly Role[] = [
  { uuid: 'scriptorium-CORE_USER', name: 'CORE_USER' },
  { uuid: 'scriptorium-PRO_USER', name: 'PRO_USER' },
];
const adminRoles: readonly Role[] = [
  ...userRoles,
  { uuid: 'scriptorium-INTERNAL_TEAM_USER', name: 'INTERNAL_TEAM_USER' },
];

export function callerOf(view: View): Caller {
  return { userUuid: view.self.id, roles: isAdministrator(view) ? adminRoles : userRoles };
}
