import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'survivor-gets-nothing',
  why: 'A vault ends with the account of its owner, though somebody was to get it.',
  flavour: 'vaults',
  from: 33,
  edits: [
    {
      file: 'actors/vault/membership/end.ts',
      find: '  if (owner === undefined || !isTransferred) {',
      replace: '  if (owner !== undefined || !isTransferred) {',
    },
  ],
};
