import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'homecoming-not-awaited',
  why: 'What does not arrive at home from a vault that has ended is nowhere any more.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/vault/items/send-home.ts',
      find: '  const arrived = (await askToComeHome(run, owner, items))?.arrived ?? [];',
      replace: '  void askToComeHome(run, owner, items);\n  const arrived = items.map(({ uuid }) => uuid);',
    },
  ],
};
