import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'repeat-told-as-conflict',
  why: 'A save that is sent again because its answer was lost is a conflict with itself.',
  from: 23,
  edits: [
    {
      file: 'actors/collection/save.ts',
      find: 'rowHere?.fingerprint.equals(fingerprint) &&',
      replace: 'rowHere?.fingerprint.equals(Buffer.of()) &&',
    },
  ],
};
