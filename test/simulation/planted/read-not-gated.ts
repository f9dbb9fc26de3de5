import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'read-not-gated',
  why: 'An answer that has seen speculative state does not wait for the commit that carries it.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    if (!this.#gate.hold({ queued: entry, outcome })) this.#answer(entry, outcome);',
      replace: '    this.#answer(entry, outcome);',
    },
  ],
};
