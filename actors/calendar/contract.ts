/**
 * The `calendar` kind: one actor that counts what all accounts together may have of calendar tokens and of calendars with
 * something in them. Each is a slot of its own, taken by an account before it has what the slot is for.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

export const calendarId = 'slots';

export const slotPurposes = ['token', 'publisher'] as const;
export type SlotPurpose = (typeof slotPurposes)[number];

export const Calendar = contract({
  name: 'calendar',
  commands: {
    /** Taking one again changes nothing. `userUuid`: the account that takes it; each has a share. */
    takeSlot: {
      request: z.object({ slot: z.string(), purpose: z.enum(slotPurposes), userUuid: z.string() }),
      reply: z.object({ taken: z.boolean() }),
    },
  },
  tells: {
    giveSlotsBack: z.object({ slots: z.array(z.string()).readonly(), purpose: z.enum(slotPurposes) }),
  },
});
