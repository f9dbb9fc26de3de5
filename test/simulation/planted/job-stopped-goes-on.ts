import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-stopped-goes-on',
  why: 'A run whose job was stopped, and has no row any more, still takes its turns.',
  from: 51,
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
      replace:
        '          if (row !== undefined && tokenOf(row) !== held.token) throw new LostLeaseError();\n',
    },
  ],
};
