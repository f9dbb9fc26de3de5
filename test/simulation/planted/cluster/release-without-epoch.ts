import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'release-without-epoch',
  why: 'A release that comes late frees what the same host has claimed again.',
  flavour: 'cluster',
  from: 87,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '      if (row?.incarnation === incarnation && row.epoch === epoch)',
      replace: '      if (row?.incarnation === incarnation && epoch > 0)',
    },
  ],
};
