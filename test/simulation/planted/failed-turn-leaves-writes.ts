import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'failed-turn-leaves-writes',
  why: 'A turn that throws leaves what it had written.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: "    if ('error' in outcome || isEmpty(turn.recorded)) this.#hold(entry, outcome);",
      replace: '    if (isEmpty(turn.recorded)) this.#hold(entry, outcome);',
    },
  ],
};
