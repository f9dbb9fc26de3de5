import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'version-that-never-changes',
  why: 'Who had nothing new on another host when a member last came is never visited again, whatever is saved there.',
  flavour: 'vaults',
  from: 1,
  edits: [
    {
      file: 'runtime/read/found-visits.ts',
      find: '?? versions.get(addressKey(address));',
      replace: '?? 0;',
    },
  ],
};
