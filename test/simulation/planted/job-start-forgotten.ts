import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-start-forgotten',
  why: 'What was started while a run was in flight is forgotten with that run.',
  from: 6,
  edits: [
    {
      file: 'runtime/jobs/lease.ts',
      find: '  return leaseOf(row).next === undefined ? undefined : leased(row, grant);\n',
      replace: '  return leaseOf(row).token === grant.token ? leased(row, grant) : undefined;\n',
    },
  ],
};
