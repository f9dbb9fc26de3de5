import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'panic-taken-as-refusal',
  why: 'The code of an error is believed whatever its severity: a server that ended may have committed first.',
  edits: [
    {
      file: 'runtime/store/postgres/errors.ts',
      find: '!isAnswer(error) || ',
      replace: '',
    },
  ],
};
