import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'release-frees-others',
  why: 'A release that comes late frees what another host has claimed.',
  flavour: 'cluster',
  from: 4,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '      if (row?.incarnation === incarnation && row.epoch === epoch)',
      replace: '      if (row !== undefined && epoch > 0)',
    },
  ],
};
