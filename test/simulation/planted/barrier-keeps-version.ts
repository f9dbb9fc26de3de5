import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'barrier-keeps-version',
  why: 'The barrier does not take the row on, so a late commit still finds it.',
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    const bumped = { ...row, version: row.version + 1 };',
      replace: '    const bumped = { ...row };',
    },
  ],
};
