/** What clients ask of the audit trail (docs/protocol/account.md, "Audit trail"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { readsOf } from '../../signed-in.ts';

/** Events say names and uuids. They never say a content, a label or a value. */
const auditEventNames = [
  'registered',
  'imported',
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
  'calendar-token-made',
  'calendar-token-revoked',
  'calendar-tokens-revoked',
  'subscription-invite-sent',
  'shared-vault-made',
  'shared-vault-deleted',
  'shared-vault-joined',
  'shared-vault-left',
  'data-exported',
  'dead-man-switch-made',
  'dead-man-switch-fired',
  'dead-man-switch-deleted',
  'reminder-delivery-changed',
  'reminder-delivery-ended',
  'banned',
  'unbanned',
  'made-administrator',
  'unmade-administrator',
  'flag-changed-by-administrator',
  'flag-changed-by-operator',
  'calendar-tokens-revoked-by-operator',
  'signed-out-by-operator',
  'banned-another',
  'unbanned-another',
  'changed-flag-of-another',
  'assistant-pairing-started',
  'assistant-paired',
  'assistant-unpaired',
  'assistant-all-unpaired',
  'registration-closed',
  'registration-opened',
] as const;

export type AuditEventName = (typeof auditEventNames)[number];

/** An entry of the trail. It also counts repeats of its event within the hour, or within the day for a failed sign-in. */
export const auditEventSchema = z.object({
  /** Each later event has a greater number. */
  number: z.int(),
  event: z.enum(auditEventNames),
  times: z.int(),
  firstAtMs: z.number(),
  lastAtMs: z.number(),
  /** As the list of sessions shows it. Null: no device took part, or the account keeps none. */
  device: z.string().nullable(),
  ipAddress: z.string().nullable(),
  /** The uuid of a session, token or key. */
  about: z.string().nullable(),
});
export type AuditEvent = z.infer<typeof auditEventSchema>;

const eventsDefault = 50;
const eventsMax = 200;
/** Query fields come as text. */
const wholeNumber = z.coerce.number().int().min(1);

export const AuditTrail = contract({
  name: 'user',
  commands: {
    /** The newest first. */
    getAuditTrail: readsOf({
      fields: z.object({
        limit: wholeNumber.max(eventsMax).default(eventsDefault),
        /** The `before` of the previous page. */
        before: wholeNumber.default(Number.MAX_SAFE_INTEGER),
      }),
      ok: z.object({
        success: z.boolean(),
        events: z.array(
          z.object({
            number: z.int(),
            event: z.enum(auditEventNames),
            times: z.int(),
            /** ISO text; so is `lastAt`. */
            firstAt: z.string(),
            lastAt: z.string(),
            device: z.string().nullable(),
            ipAddress: z.string().nullable(),
            about: z.string().nullable(),
          }),
        ),
        /** Null: there are no older events. */
        before: z.int().nullable(),
      }),
    }),
  },
  tells: {
    /** An event of a sign-in, from the `signin` actor of the account's address. */
    signInNoted: z.object({
      event: z.enum(['sign-in-failed', 'sign-in-approved', 'sign-in-denied']),
      from: z.object({ userAgent: z.string().nullable(), ipAddress: z.string().nullable() }),
    }),
  },
  timers: {
    /** The oldest event is too old. */
    trimAuditTrail: z.null(),
  },
});
