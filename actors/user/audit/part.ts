/** The audit trail of an account (docs/protocol/account.md, "Audit trail"). */
import { tell, timer } from '../../../runtime/command.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTime } from '../../times.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { AuditTrail } from './contract.ts';
import {
  audit,
  auditPages,
  auditPageTable,
  auditSlice,
  readTrail,
  removeAuditTrail,
  trimAuditTrail,
} from './trail.ts';

const getAuditTrail = signedInRead(AuditTrail.commands.getAuditTrail, {
  reads: auditPages,
  answer: (view, query, pages, { readonly }) => {
    // The trail says where the user lives, which is no business of a program that may only read notes. The list of sessions is
    // the same.
    if (readonly) return { success: true, events: [], before: null };
    const { events, before } = readTrail(view, pages, query);
    const listedEvents = events.map(({ firstAtMs, lastAtMs, ...event }) => ({
      ...event,
      firstAt: isoTime(firstAtMs),
      lastAt: isoTime(lastAtMs),
    }));
    return { success: true, events: listedEvents, before };
  },
});

const trimAuditTrailTimer = timer(AuditTrail.timers.trimAuditTrail, {
  reads: auditPages,
  turn: (turn, _payload, pages) => trimAuditTrail(turn, pages),
});

const signInNotedTell = tell(AuditTrail.tells.signInNoted, (turn, { event, from }) => {
  if (isActive(turn)) audit(turn, event, from);
});

export const auditTrail = userPart(AuditTrail, {
  name: 'audit-trail',
  uses: [AccountSettings],
  slices: [auditSlice],
  tables: [auditPageTable],
  commands: { getAuditTrail },
  tells: { signInNoted: signInNotedTell },
  timers: { trimAuditTrail: trimAuditTrailTimer },
  on: { accountDeleted: removeAuditTrail },
});
