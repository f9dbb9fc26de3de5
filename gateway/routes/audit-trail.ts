/** The events of the account (docs/protocol/account.md, "Audit trail"). */
import { AuditTrail } from '../../actors/user/audit/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';

export const auditTrailRoutes: readonly AnyRoute[] = [
  family({ tag: 'Audit trail' }).endpoint({
    method: 'GET',
    path: '/v1/users/:userUuid/audit-trail',
    command: AuditTrail.commands.getAuditTrail,
    summary: 'Sign-ins, devices, factors, tokens and what operators did, the newest first.',
    refusals: [400],
  }),
];
