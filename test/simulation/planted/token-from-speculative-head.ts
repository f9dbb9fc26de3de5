import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'token-from-speculative-head',
  why: 'A shared read is bounded by a head that is not durable yet.',
  edits: [
    {
      file: 'runtime/host.ts',
      find: '      (name) => slices.get(name),',
      replace: '      (name) => actor.slices.get(name),',
    },
  ],
};
