import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'repeats-counted-for-ever',
  why: 'A caller that waits to repeat a call counts for ever, and in the end nobody may.',
  from: 5,
  edits: [
    {
      file: 'runtime/host/actors.ts',
      find: '    this.#waiting -= 1;\n',
      replace: '',
    },
  ],
};
