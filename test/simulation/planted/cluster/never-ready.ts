import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'never-ready',
  why: 'A host whose shards others adopted is never ready.',
  from: 135,
  edits: [
    {
      file: 'runtime/ownership/ownership.ts',
      find: ' || this.#hasWaitedToJoin;',
      replace: ' || (this.#hasWaitedToJoin && this.#ended);',
    },
  ],
};
