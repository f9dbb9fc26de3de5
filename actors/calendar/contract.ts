/**
 * The `calendar` kind: one actor that counts the calendar tokens and the non-empty calendars of all accounts together. Each takes a
 * slot, which the account asks for before it makes the token or publishes the calendar.
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
      reply: z.object({ granted: z.boolean() }),
    },
  },
  tells: {
    giveSlotsBack: z.object({ slots: z.array(z.string()).readonly(), purpose: z.enum(slotPurposes) }),
  },
});
