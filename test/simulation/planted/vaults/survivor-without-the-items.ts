import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'survivor-without-the-items',
  why: 'What the old owner had in a vault stays his, who is gone.',
  flavour: 'vaults',
  from: 140,
  edits: [
    {
      file: 'actors/vault/membership/end.ts',
      find: 'survivor !== undefined && transferOwnership(turn, vault.owner_uuid, survivor.member);',
      replace: 'survivor !== undefined;',
    },
  ],
};
