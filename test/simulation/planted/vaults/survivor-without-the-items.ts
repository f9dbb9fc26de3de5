import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'survivor-without-the-items',
  why: 'The items of the old owner in a vault stay theirs, though the account is gone.',
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
