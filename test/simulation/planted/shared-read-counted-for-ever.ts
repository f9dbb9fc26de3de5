import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'shared-read-counted-for-ever',
  why: 'Shared reads count after they were answered, and in the end an actor may have none.',
  edits: [
    {
      file: 'runtime/read/reader.ts',
      find: '      count(this.#sharedOf, actor, -1);',
      replace: '      void 0;',
    },
  ],
};
