import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'notice-forgotten',
  why: 'What a named command saves is never told to the other devices.',
  flavour: 'lane',
  edits: [
    {
      file: 'actors/user/items/sync.ts',
      find: '  if (after.head !== before) notifyOtherDevices',
      replace: "  if (after.head !== before && !('identity' in batch.request)) notifyOtherDevices",
    },
  ],
};
