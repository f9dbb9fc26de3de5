import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'unknown-told-as-nothing',
  why: 'A call is told to have had no effect after an attempt whose outcome is unknown.',
  flavour: 'partitioned',
  edits: [
    {
      file: 'runtime/host/actors.ts',
      find: '  if (mayHaveEffect && promisesNothing(error))',
      replace: '  if (mayHaveEffect && promisesNothing(error) && error === undefined)',
    },
  ],
};
