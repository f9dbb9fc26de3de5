import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'token-from-later-head',
  why: 'A shared read takes its token from the head after its rows were read.',
  edits: [
    {
      file: 'runtime/host/dispatcher.ts',
      find: 'new Map(actor.durableSlices)',
      replace: 'actor.durableSlices',
    },
  ],
};
