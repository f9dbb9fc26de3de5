/** The `calendar` kind. An account gives back a slot that it has taken and could not use. */
import { z } from 'zod';
import { command, tell } from '../../runtime/command.ts';
import { type FairShare, mayTakeOneMore } from '../../runtime/fair-share.ts';
import { kindOf } from '../../runtime/kind.ts';
import { type SliceMap, sliceMap } from '../../runtime/slice.ts';
import { Calendar, type SlotPurpose } from './contract.ts';

const slotSchema = z.object({ userUuid: z.string().optional() });
type Slot = z.infer<typeof slotSchema>;
/** An account may hold a hundred slots, so a hundred greedy accounts leave half to others. */
const share: FairShare = { least: 1, percentOfFree: 1 };

const slotsOf = (family: string): SliceMap<Slot> =>
  sliceMap({ family, entriesMax: 10_000, schema: slotSchema });

const slotMaps: Readonly<Record<SlotPurpose, SliceMap<Slot>>> = {
  token: slotsOf('token-slot'),
  publisher: slotsOf('publisher-slot'),
};

export const calendar = kindOf(Calendar, {
  uses: [],
  slices: Object.values(slotMaps),
  tables: [],
  commands: {
    takeSlot: command(Calendar.commands.takeSlot, {
      creates: true,
      turn: (turn, { slot, purpose, userUuid }) => {
        const map = slotMaps[purpose];
        if (turn.entry(map, slot) !== undefined) return { granted: true };
        const slots = turn.entries(map);
        const held = [...slots.values()].filter((other) => other.userUuid === userUuid).length;
        if (!mayTakeOneMore(held, map.entriesMax - slots.size, share)) return { granted: false };
        turn.setEntry(map, slot, { userUuid });
        return { granted: true };
      },
    }),
  },
  tells: {
    giveSlotsBack: tell(Calendar.tells.giveSlotsBack, (turn, { slots, purpose }) => {
      const map = slotMaps[purpose];
      for (const slot of slots) if (turn.entry(map, slot) !== undefined) turn.removeEntry(map, slot);
    }),
  },
  timers: {},
});
