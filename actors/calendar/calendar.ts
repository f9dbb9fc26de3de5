/** The `calendar` kind. A slot that an account has asked for and did not come to use is given back by that account. */
import { z } from 'zod';
import { command, tell } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { type SliceMap, sliceMap } from '../../runtime/slice.ts';
import { Calendar, type SlotPurpose } from './contract.ts';

type Slot = Record<never, never>;

const slotsOf = (family: string): SliceMap<Slot> =>
  sliceMap({ family, format: 1, entriesMax: 10_000, schema: z.object({}) });

const slotMaps: Readonly<Record<SlotPurpose, SliceMap<Slot>>> = {
  token: slotsOf('token-slot'),
  publisher: slotsOf('publisher-slot'),
};

export const calendar = kindOf(Calendar, {
  uses: [],
  slices: Object.values(slotMaps),
  tables: [],
  commands: {
    takeSlot: command({
      ...Calendar.commands.takeSlot,
      creates: true,
      turn: (turn, { slot, purpose }) => {
        const map = slotMaps[purpose];
        if (turn.entry(map, slot) !== undefined) return { taken: true };
        if (turn.entries(map).size >= map.entriesMax) return { taken: false };
        turn.setEntry(map, slot, {});
        return { taken: true };
      },
    }),
  },
  tells: {
    giveSlotsBack: tell({
      ...Calendar.tells.giveSlotsBack,
      turn: (turn, { slots, purpose }) => {
        const map = slotMaps[purpose];
        for (const slot of slots) if (turn.entry(map, slot) !== undefined) turn.removeEntry(map, slot);
      },
    }),
  },
  timers: {},
});
