import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'late-claim-taken',
  why: 'The answer of a claim is taken though the incarnation that asked is no more.',
  flavour: 'sleepy',
  from: 41,
  edits: [
    {
      file: 'runtime/ownership/ownership.ts',
      find: '      if (this.#ended) return;\n      this.#take(claimed);',
      replace: '      this.#take(claimed);',
    },
  ],
};
