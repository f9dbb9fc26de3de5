import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'former-owner-believed',
  why: 'What a former owner refuses is taken as the whole truth, though the next owner had the call too.',
  flavour: 'cluster',
  edits: [
    {
      file: 'runtime/host/actors.ts',
      find: '    return error instanceof FencedError || (error instanceof MovedError && !error.reachedNobody);\n',
      replace: '    return false;\n',
    },
  ],
};
