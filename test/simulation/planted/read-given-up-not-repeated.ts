import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'read-given-up-not-repeated',
  why: 'A read that the database gives up (40001) fails its caller, although it would succeed at once.',
  flavour: 'troubled',
  edits: [
    {
      file: 'runtime/read/read-repeated.ts',
      find: 'const conflictsMax = 12;',
      replace: 'const conflictsMax = 0;',
    },
  ],
};
