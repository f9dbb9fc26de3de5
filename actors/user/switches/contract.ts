/** What clients ask of dead man's switches (docs/protocol/delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';

/** Times in milliseconds. The address that is sent is never among it. */
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
  /** The most that the deadline moves on after an outage of the server. */
  outageGrace: z.number(),
});
export type ShownSwitch = z.infer<typeof deadManSwitch>;

const switchId = z.string().max(64);

/** Judged in the actor, which answers all that is wrong with one tag. */
const given = z.unknown().optional();

const commands = {
  /** Refusals: 400 `invalid-dead-man-switch` and `email-delivery-unavailable`, 409 `dead-man-switch-limit`. */
  makeSwitch: signedIn({
    access: 'writes',
    fields: z.object({
      recipientEmail: given,
      /** The same, where `recipientEmail` is absent. */
      recipient: given,
      shareUrl: given,
      intervalDays: given,
      /** The first one; without it, an interval from now. */
      deadline: given,
      message: given,
    }),
    ok: z.object({ deadManSwitch }),
  }),
  /** The newest first. */
  listSwitches: signedIn({
    access: 'reads',
    fields: z.object({}),
    ok: z.object({ deadManSwitches: z.array(deadManSwitch) }),
  }),
  /** Refusals: 404. */
  checkIn: signedIn({
    access: 'writes',
    fields: z.object({ switchId }),
    ok: z.object({ deadline: z.number() }),
  }),
  /** Refusals: 404. */
  deleteSwitch: signedIn({
    access: 'writes',
    fields: z.object({ switchId }),
    ok: z.object({ message: z.string() }),
  }),
};

export const Switches = contract({
  name: 'user',
  commands: openToBridges(commands),
  timers: {
    /** Something comes for one of its dead man's switches. */
    watchSwitches: z.null(),
  },
});
