import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'release-while-busy',
  why: 'Shards are released while turns and commits of theirs are in flight.',
  flavour: 'planned',
  from: 328,
  edits: [
    {
      file: 'runtime/ownership/hand-over.ts',
      find: '    await quiesce(new Set(shards), quiesceMs);\n',
      replace: '    void quiesce(new Set(shards), quiesceMs);\n',
    },
  ],
};
