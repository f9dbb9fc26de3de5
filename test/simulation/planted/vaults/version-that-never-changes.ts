import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'version-that-never-changes',
  why: 'An owner on another host who had nothing new when a member last asked is never read again, whatever is saved there.',
  flavour: 'vaults',
  from: 1,
  edits: [
    {
      file: 'runtime/read/negative-cache.ts',
      find: '?? versions.get(addressKey(address));',
      replace: '?? 0;',
    },
  ],
};
