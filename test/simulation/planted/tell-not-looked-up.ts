import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'tell-not-looked-up',
  why: 'A tell is consumed as it was offered, without looking whether its row is still there before the turn.',
  from: 29,
  edits: [
    {
      file: 'runtime/delivery/tell-delivery.ts',
      find: "      if (row === undefined) return 'dropped';\n      work(turn, row, results as never);",
      replace: '      work(turn, row ?? tell, results as never);',
    },
  ],
};
