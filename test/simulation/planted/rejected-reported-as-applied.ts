import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'rejected-reported-as-applied',
  why: 'A commit that was rejected for a taken key is reported as committed.',
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: 'member.actor.rejected(conflicting);',
      replace: 'member.actor.committed();',
    },
  ],
};
