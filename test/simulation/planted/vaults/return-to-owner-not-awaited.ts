import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'return-to-owner-not-awaited',
  why: 'What does not arrive at its owner from a vault that has ended is nowhere any more.',
  flavour: 'vaults',
  from: 11,
  edits: [
    {
      file: 'actors/vault/items/return-to-owners.ts',
      find: '  const applied = (await askToTakeBack(run, owner, items))?.applied ?? [];',
      replace: '  void askToTakeBack(run, owner, items);\n  const applied = items.map(({ uuid }) => uuid);',
    },
  ],
};
