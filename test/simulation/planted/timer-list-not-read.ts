import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timer-list-not-read',
  why: "A due row is run without a look at the actor's own list.",
  edits: [
    {
      file: 'runtime/delivery/timer-delivery.ts',
      find: "      if (!isCurrent(turn, row)) return 'dropped';\n      handler.turn(",
      replace: '      handler.turn(',
    },
  ],
};
