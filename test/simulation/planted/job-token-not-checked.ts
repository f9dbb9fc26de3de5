import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-token-not-checked',
  why: 'The result of a run counts although another run has taken the job over.',
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
      replace: '          if (row === undefined) throw new LostLeaseError();\n',
    },
  ],
};
