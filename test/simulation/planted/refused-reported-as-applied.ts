import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'refused-reported-as-applied',
  why: 'A commit that was refused for a taken key is reported as committed.',
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: 'member.actor.refused(taken);',
      replace: 'member.actor.committed();',
    },
  ],
};
