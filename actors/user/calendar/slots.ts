/**
 * The slots of an account, among the slots of all (`actors/calendar`).
 *
 *     wanted      committed here first: no slot is taken that nobody remembers
 *     taken       by the `calendar` actor
 *     kept        in the commit of what the slot is for
 *     given back  by a tell, in the commit that no longer needs it; by a timer, if it was never kept
 */
import { z } from 'zod';
import { type Turn, timer } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { Calendar, calendarId, type SlotPurpose, slotPurposes } from '../../calendar/contract.ts';
import type { Refused } from '../../reply.ts';
import { refuse } from '../../reply.ts';
import type { SignedInWorkflow } from '../signed-in.ts';
import { UserCalendar } from './contract.ts';

const { giveSlotsBack } = UserCalendar.timers;

/** Longer than any call may take. */
const requestAgeMs = 120_000;

/** Keyed by the slot. */
export const requestedSlotMap = sliceMap<{ readonly purpose: SlotPurpose; readonly atMs: number }>({
  family: 'wanted-calendar-slot',
  entriesMax: 16,
  schema: z.object({ purpose: z.enum(slotPurposes), atMs: z.number() }),
});

export const busy: Refused = refuse.notNow('Too much is being done at once. Please try again.', 10_000);

/** Takes a slot, unless `unless` refuses. `full` is the refusal when all slots are taken, or this account's share of them. */
export async function takeSlot(
  workflow: Pick<SignedInWorkflow<unknown>, 'self' | 'turn' | 'actors'>,
  purpose: SlotPurpose,
  full: Refused,
  unless: (turn: Turn) => Refused | undefined,
): Promise<string> {
  const { slot } = await workflow.turn({
    turn: (turn) => {
      const refused = unless(turn);
      return refused ?? want(turn, purpose);
    },
  });
  const { granted } = await workflow.actors
    .get(Calendar, calendarId)
    .ask.takeSlot({ slot, purpose, userUuid: workflow.self.id });
  if (granted) return slot;
  await workflow.turn({
    turn: (turn) => {
      forgetRequest(turn, slot);
      return full;
    },
  });
  return slot;
}

function want(turn: Turn, purpose: SlotPurpose): { readonly slot: string } | Refused {
  releaseUnkept(turn);
  if (turn.entries(requestedSlotMap).size >= requestedSlotMap.entriesMax) return busy;
  const slot = turn.random.uuid();
  turn.setEntry(requestedSlotMap, slot, { purpose, atMs: turn.nowMs });
  turn.arm(giveSlotsBack, turn.nowMs + requestAgeMs, null);
  return { slot };
}

/** Call in the turn of what the slot is for. Refuses if the slot was given back meanwhile. */
export function keepSlot(turn: Turn, slot: string): Refused | undefined {
  return forgetRequest(turn, slot) ? undefined : busy;
}

export function releaseSlots(turn: Turn, purpose: SlotPurpose, slots: readonly string[]): void {
  if (slots.length > 0) turn.tell(Calendar, calendarId).giveSlotsBack({ slots, purpose });
}

/** Call in a turn that finds it needs no slot. */
export function releaseUnused(turn: Turn, purpose: SlotPurpose, slot: string): void {
  if (forgetRequest(turn, slot)) releaseSlots(turn, purpose, [slot]);
}

/** Gives back the slots of calls that came to nothing long ago. */
export function releaseUnkept(turn: Turn): void {
  for (const [slot, { purpose, atMs }] of turn.entries(requestedSlotMap)) {
    if (turn.nowMs - atMs >= requestAgeMs) releaseUnused(turn, purpose, slot);
  }
}

export const wantsSlots = (turn: Turn): boolean => turn.entries(requestedSlotMap).size > 0;

function forgetRequest(turn: Turn, slot: string): boolean {
  if (turn.entry(requestedSlotMap, slot) === undefined) return false;
  turn.removeEntry(requestedSlotMap, slot);
  if (!wantsSlots(turn)) turn.disarm(giveSlotsBack);
  return true;
}

/** Each new request moves the timer, so `want` also gives back older slots that were never kept. */
export const giveSlotsBackTimer = timer(giveSlotsBack, releaseUnkept);
