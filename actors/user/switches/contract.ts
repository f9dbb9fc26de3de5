/** What clients ask of dead man's switches (docs/protocol/delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

/** Times are milliseconds. The link that is sent is never shown. */
const deadManSwitch = z.object({
  uuid: z.string(),
  recipientEmail: z.string(),
  message: z.string().nullable(),
  intervalDays: z.int(),
  deadline: z.number(),
  /** A relay has its mail. */
  triggered: z.boolean(),
  lastCheckInAt: z.number().nullable(),
  createdAt: z.number(),
  sendAttempts: z.int(),
  nextAttemptAt: z.number().nullable(),
  lastAttemptAt: z.number().nullable(),
  /** The longest time that an outage of the server can add to the deadline. */
  outageGrace: z.number(),
});
export type SwitchResponse = z.infer<typeof deadManSwitch>;

const switchId = z.string().max(64);

/** The actor checks it, and refuses anything wrong with one tag. */
const unchecked = z.unknown().optional();

export const Switches = contract({
  name: 'user',
  commands: openToBridges({
    /** Refusals: 400 `invalid-dead-man-switch` and `email-delivery-unavailable`, 409 `dead-man-switch-limit`. */
    makeSwitch: writes({
      fields: z.object({
        recipientEmail: unchecked,
        /** Counts if `recipientEmail` is absent. */
        recipient: unchecked,
        shareUrl: unchecked,
        intervalDays: unchecked,
        /** The first deadline. Absent: one interval from now. */
        deadline: unchecked,
        message: unchecked,
      }),
      ok: z.object({ deadManSwitch }),
    }),
    /** The newest first. */
    listSwitches: reads({ ok: z.object({ deadManSwitches: z.array(deadManSwitch) }) }),
    /** Refusals: 404. */
    checkIn: writes({ fields: z.object({ switchId }), ok: z.object({ deadline: z.number() }) }),
    /** Refusals: 404. */
    deleteSwitch: writes({ fields: z.object({ switchId }), ok: z.object({ message: z.string() }) }),
  }),
  timers: {
    /** A switch needs a warning, a look, its mail or another attempt. */
    watchSwitches: z.null(),
  },
});
