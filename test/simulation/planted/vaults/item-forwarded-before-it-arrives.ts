import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'item-forwarded-before-it-arrives',
  why: 'Where a vault refuses an item, it is nowhere any more.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/user/items/places.ts',
      find: '  const arrived = isRefused(answer) ? [] : answer.ok.saved.map(({ row }) => row.uuid);',
      replace: '  const arrived = items.map(({ row }) => row.uuid);',
    },
  ],
};
