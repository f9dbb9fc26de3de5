import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'item-forwarded-before-it-is-applied',
  why: 'Where a vault refuses an item, it is nowhere any more.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/user/items/save-across-collections.ts',
      find: '  const applied = isRefused(answer) ? [] : answer.ok.saved.map(({ row }) => row.uuid);',
      replace: '  const applied = items.map(({ row }) => row.uuid);',
    },
  ],
};
