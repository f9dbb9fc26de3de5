import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'unknown-taken-as-failed',
  why: 'A commit whose answer was lost is taken for one that was not applied.',
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: 'void actor.unknown();',
      replace: "actor.failed(new UnavailableError('the database cannot take this now'));",
    },
  ],
};
