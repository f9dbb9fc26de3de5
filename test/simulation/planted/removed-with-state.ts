import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'removed-with-state',
  why: 'An actor that was without state once counts as ended for ever, and goes with what it has got since.',
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: 'const endedAtMs = ends === true ? this.timeMs() : undefined;',
      replace: 'const endedAtMs = ends === true ? this.timeMs() : stored?.endedAtMs;',
    },
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    if (hasState) {',
      replace: '    if (hasState && this.#epoch < 0) {',
    },
  ],
};
