import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'unknown-code-taken-as-defect',
  why: 'A commit that failed with a code that nobody knows is taken for one that was not applied.',
  edits: [
    {
      file: 'runtime/store/postgres/errors.ts',
      find: "failureByClass[code.slice(0, 2)] ?? 'unknown'",
      replace: "failureByClass[code.slice(0, 2)] ?? 'defect'",
    },
  ],
};
