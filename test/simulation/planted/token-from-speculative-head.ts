import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'token-from-speculative-head',
  why: 'A shared read is bounded by a head that is not durable yet.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    return this.#held.slices.durable;',
      replace:
        '    return new Map([...this.#held.slices.keys()].map((name) => [name, this.#held.slices.get(name)]));',
    },
  ],
};
