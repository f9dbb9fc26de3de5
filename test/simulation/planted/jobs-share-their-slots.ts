import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'jobs-share-their-slots',
  why: 'Runs that hang on one service delay every other job of the host.',
  flavour: 'troubled',
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '  #slotsOf(what: string): Slots {\n',
      replace: "  #slotsOf(_what: string): Slots {\n    const what = 'any';\n",
    },
  ],
};
