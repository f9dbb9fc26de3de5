import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'stale-mail-lease-accepted',
  why: 'A worker that another run has taken over goes on, so a mail that may go once is sent by both.',
  flavour: 'delivery',
  from: 85,
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();\n',
      replace: '          if (row === undefined) throw new LostLeaseError();\n',
    },
  ],
};
