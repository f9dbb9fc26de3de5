import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'rerun-on-speculative-state',
  why: 'Turns run again on what the rejected or lost commit had written.',
  edits: [
    {
      file: 'runtime/actor/actor-state.ts',
      find: '    this.slices.revert();\n',
      replace: '',
    },
  ],
};
