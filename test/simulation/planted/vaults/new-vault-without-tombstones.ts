import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'new-vault-without-tombstones',
  why: 'A client that has an item never hears of its deletion in a vault that is new to the client.',
  flavour: 'vaults',
  from: 2201444,
  edits: [
    {
      file: 'actors/user/items/vault-pages.ts',
      find: ', subset };\n',
      replace: ", subset: known?.some(({ collection }) => collection === vault) ? subset : 'live' };\n",
    },
  ],
};
