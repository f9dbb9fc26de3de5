/**
 * The `calendar` kind: one actor that limits, over all accounts, how many calendar tokens and non-empty published calendars exist.
 * Each takes a slot, which the account asks for before it makes the token or publishes the calendar.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

export const calendarId = 'slots';

/** 10,000 slots each. `publisher`: a published calendar that is not empty. */
export const slotPurposes = ['token', 'publisher'] as const;
export type SlotPurpose = (typeof slotPurposes)[number];

export const Calendar = contract({
  name: 'calendar',
  commands: {
    /** Idempotent. The slot counts for the account of `userUuid`, which may hold a limited share of all slots. */
    takeSlot: {
      request: z.object({ slot: z.string(), purpose: z.enum(slotPurposes), userUuid: z.string() }),
      reply: z.object({ granted: z.boolean() }),
    },
  },
  tells: {
    /** Idempotent. */
    giveSlotsBack: z.object({ slots: z.array(z.string()).readonly(), purpose: z.enum(slotPurposes) }),
  },
});
