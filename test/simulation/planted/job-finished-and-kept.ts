import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-finished-and-kept',
  why: 'A job that is done keeps its row, so it is done again.',
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '        if (next === undefined) turn.disarm(row);\n        else turn',
      replace: '        if (next !== undefined) turn',
    },
  ],
};
