import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timer-compared-by-name',
  why: 'A timer that was moved still fires at its old time.',
  edits: [
    {
      file: 'runtime/delivery/timer-delivery.ts',
      find: "if (!isCurrent(turn, row)) return 'dropped';\n      handler.turn(",
      replace: "if (turn.armed(row.name) === undefined) return 'dropped';\n      handler.turn(",
    },
  ],
};
