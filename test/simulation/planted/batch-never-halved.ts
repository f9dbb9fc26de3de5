import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'batch-never-halved',
  why: 'A batch with a defect is sent again and again as a whole.',
  from: 902,
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: '    const half = Math.ceil(members.length / 2);',
      replace: '    const half = members.length;',
    },
  ],
};
