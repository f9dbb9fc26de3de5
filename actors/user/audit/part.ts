/** The audit trail of an account (docs/protocol/account.md, "Audit trail"). */
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { AuditTrail } from './contract.ts';
import { auditCommands, signInNotedTell, trimAuditTrailTimer } from './get-audit-trail.ts';
import { auditPageTable } from './page-table.ts';
import { auditSlice, removeAuditTrail } from './trail.ts';

export const auditTrail = userPart(AuditTrail, {
  name: 'audit-trail',
  uses: [AccountSettings],
  slices: [auditSlice],
  tables: [auditPageTable],
  commands: auditCommands,
  tells: { signInNoted: signInNotedTell },
  timers: { trimAuditTrail: trimAuditTrailTimer },
  on: { accountDeleted: removeAuditTrail },
});
