/** Reading the audit trail, trimming it, and what the `signin` actor has to add (docs/protocol/account.md, "Audit trail"). */
import { tell, timer } from '../../../runtime/command.ts';
import { isActive } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { isoTime } from '../times.ts';
import { AuditTrail } from './contract.ts';
import { audit, auditPages, auditTrail, trimAuditTrail } from './trail.ts';

const getAuditTrail = signedInRead({
  ...AuditTrail.commands.getAuditTrail,
  reads: auditPages,
  answer: (view, asked, pages, { readonly }) => {
    // As the list of sessions does: it would tell a program that may read notes where its user lives.
    if (readonly) return { success: true, events: [], before: null };
    const { events, before } = auditTrail(view, pages, asked);
    const shown = events.map(({ firstAtMs, lastAtMs, ...event }) => ({
      ...event,
      firstAt: isoTime(firstAtMs),
      lastAt: isoTime(lastAtMs),
    }));
    return { success: true, events: shown, before };
  },
});

export const auditCommands = { getAuditTrail };

export const trimAuditTrailTimer = timer({
  ...AuditTrail.timers.trimAuditTrail,
  missed: 'fire-once',
  reads: auditPages,
  turn: (turn, _payload, pages) => trimAuditTrail(turn, pages),
});

export const signInNotedTell = tell({
  ...AuditTrail.tells.signInNoted,
  turn: (turn, { event, from }) => {
    if (isActive(turn)) audit(turn, event, from);
  },
});
