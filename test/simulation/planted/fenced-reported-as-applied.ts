import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'fenced-reported-as-applied',
  why: 'A commit that the fence rejected is reported as committed.',
  from: 8,
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: '        else member.actor.fenced();',
      replace: '        else member.actor.committed();',
    },
  ],
};
