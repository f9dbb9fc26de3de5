import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'return-to-owner-not-awaited',
  why: 'What does not arrive at its owner from a vault that has ended is nowhere any more.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/vault/items/return-to-owners.ts',
      find: '  const arrived = (await askToTakeBack(run, owner, items))?.arrived ?? [];',
      replace: '  void askToTakeBack(run, owner, items);\n  const arrived = items.map(({ uuid }) => uuid);',
    },
  ],
};
