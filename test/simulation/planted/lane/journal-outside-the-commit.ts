import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'journal-outside-the-commit',
  why: 'A command is journaled in a commit after that of its save: a crash in between leaves it unknown.',
  flavour: 'lane',
  from: 34,
  edits: [
    {
      file: 'actors/user/sync-lane/carry-out.ts',
      find: '  const begun = sync.isPlain ? ',
      replace: '  const begun = sync.isPlain && false ? ',
    },
  ],
};
