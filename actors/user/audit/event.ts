/** What the audit trail of an account tells of (docs/protocol/account.md, "Audit trail"). */
import { z } from 'zod';

/** Names and uuids, never a content, a label or a value. */
export const auditEventNames = [
  'registered',
  'signed-in',
  'signed-in-from-new-device',
  'sign-in-failed',
  'sign-in-refused-by-ban',
  'signed-out',
  'session-revoked',
  'other-sessions-revoked',
  'password-changed',
  'email-changed',
  'authenticator-app-added',
  'authenticator-app-removed',
  'emailed-codes-on',
  'emailed-codes-off',
  'security-key-added',
  'security-key-removed',
  'recovery-codes-made',
  'recovery-codes-shown',
  'recovery-codes-used',
  'recovery-escrow-changed',
  'app-password-made',
  'app-password-used',
  'app-password-deleted',
  'trusted-device-added',
  'trusted-device-used',
  'trusted-device-removed',
  'sign-in-approved',
  'sign-in-denied',
  'bridge-token-made',
  'bridge-token-used',
  'bridge-token-deleted',
  'subscription-invite-sent',
  'data-exported',
  'dead-man-switch-made',
  'dead-man-switch-fired',
  'dead-man-switch-deleted',
  'banned',
  'unbanned',
  'made-administrator',
  'unmade-administrator',
  'flag-changed-by-administrator',
  'signed-out-by-operator',
  'banned-another',
  'unbanned-another',
  'changed-flag-of-another',
] as const;

export type AuditEventName = (typeof auditEventNames)[number];

/** One that was the same as the last of its kind within the hour is counted there; failed sign-ins within the day. */
export const auditEventSchema = z.object({
  /** Its place in the trail: each later one has a greater number. */
  number: z.int(),
  event: z.enum(auditEventNames),
  times: z.int(),
  firstAtMs: z.number(),
  lastAtMs: z.number(),
  /** As the list of sessions shows it. Null where no device took part, or the account keeps none. */
  device: z.string().nullable(),
  ipAddress: z.string().nullable(),
  /** The uuid of the session, token or key. */
  about: z.string().nullable(),
});
export type AuditEvent = z.infer<typeof auditEventSchema>;
