import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'read-not-gated',
  why: 'An answer that has seen speculative state does not wait for the commit that carries it.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    if (last === undefined) this.#answer(entry, outcome);\n    else last.carried.push({ queued: entry, outcome });',
      replace: '    void last;\n    this.#answer(entry, outcome);',
    },
  ],
};
