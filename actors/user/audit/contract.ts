/** What clients ask of the audit trail (docs/protocol/account.md, "Audit trail"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { signedInOf } from '../../signed-in.ts';
import { auditEventNames } from './event.ts';

const eventsDefault = 50;
const eventsMax = 200;
/** Query fields come as text. */
const wholeNumber = z.coerce.number().int().min(1);

const commands = {
  /** The newest first. */
  getAuditTrail: signedInOf({
    access: 'reads',
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
};

export const AuditTrail = contract({
  name: 'user',
  commands,
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
